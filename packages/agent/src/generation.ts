import { abandonOnAbort, type GeneratedCode, type GenerationRefused, type ToolDefinition } from "@cem/core";
import type { Offered } from "./candidate-tools.ts";
import { withUnavailable } from "./refusals.ts";
import type { RepairHistory } from "./repair-history.ts";
import { prepareTypeChecker } from "./review.ts";
import { selectUnavailable, toSelectedTool } from "./selection.ts";
import type { RunContext } from "./stages.ts";

export interface GenerationInput {
  task: string;
  offered: Offered;
  facts: string | undefined;
  /** Every tool of the catalog. */
  tools: readonly ToolDefinition[];
}

/**
 * The stage `generate`: requests code for a task, with feedback on earlier attempts, and records the attempt.
 *
 * @returns the code; or the reason why there is none, with unavailable tools that would fit the task.
 */
export async function generate(context: RunContext, input: GenerationInput, history: RepairHistory) {
  const { progress } = context;
  const { task, tools } = input;
  const write = (): Promise<GeneratedCode | GenerationRefused> => requestCode(context, input, history);
  const { result: generated, ms } = await progress.stage("generate", write);
  history.recordGeneration(generated);
  if (generated.status === "generated") {
    const { code, origin, notes } = generated;
    progress.emit({ type: "generated", code, origin, ms, notes });
    return generated;
  }
  const unavailable = await abandonOnAbort(selectUnavailable(context, task, tools), context.signal);
  const refusal = withUnavailable(generated, task, unavailable);
  const { nearest, selected } = input.offered.selection;
  progress.emit({
    type: "generation-refused",
    steps: refusal.steps,
    nearest: [...selected, ...nearest].map(toSelectedTool),
    ms,
  });
  return refusal;
}

async function requestCode(
  context: RunContext,
  { task, offered, facts }: GenerationInput,
  { feedback, usage }: RepairHistory,
): Promise<GeneratedCode | GenerationRefused> {
  const { options, progress, signal, stages } = context;
  const { selection, others, named } = offered;
  const generator = await stages.generator.get();
  return generator.generate({
    task,
    tools: selection.selected.map(({ tool }) => tool),
    otherTools: others.length === 0 ? undefined : others,
    namedTools: named.length === 0 ? undefined : named,
    facts,
    mode: options.mode,
    context: options.context,
    feedback: feedback.length === 0 ? undefined : feedback,
    spent: usage,
    session: options.session,
    signal,
    onProgress: (generation) => {
      if (signal.aborted) return;
      // The model's program will be type-checked, so the checker is loaded while the model generates it.
      if (generation.form !== "call") prepareTypeChecker(context);
      progress.emit({ type: "generating", ...generation });
    },
  });
}
