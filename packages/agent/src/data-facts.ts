import type { ToolInvoker } from "@cem/core";
import { databasesOf, filesNamedIn } from "./data-sources.ts";
import { programThatReads } from "./data-program.ts";
import type { RunContext } from "./run-context.ts";
import type { Offered } from "./selection.ts";

const TIMEOUT_MS = 3_000;
const MAX_CALLS = 30;

/**
 * Reads what a model should know of the data that a task is about: the columns of tables beside a tool that queries them, and how
 * the files of the workspace begin that the task names. A program in the sandbox reads them, so that nothing is read that the
 * task's own code could not. Only tools that say they change nothing are called, and nobody is asked anything.
 *
 * @returns `undefined` for a generator that asks no model, where the settings forbid it, and where there is nothing to tell.
 */
export async function readDataFacts(
  { options, signal, stages }: RunContext,
  task: string,
  { selection, others }: Offered,
): Promise<string | undefined> {
  if (stages.settings.dataFacts !== true) return undefined;
  const { toolBudget } = await stages.generator.get();
  if (toolBudget === undefined) return undefined;
  const selected = selection.selected.map(({ tool }) => tool);
  const needed = new Set(selected.map(({ module }) => module));
  const offered = [...selected, ...others];
  const databases = databasesOf(offered.filter(({ module }) => needed.size === 0 || needed.has(module)));
  const files = filesNamedIn(task);
  if (databases.length + files.length === 0) return undefined;
  const sandbox = await stages.sandbox.get();
  const outcome = await sandbox.run({
    code: programThatReads(databases, files),
    invoker: withoutQuestions(await stages.invoker?.get(), options.session),
    limits: { timeoutMs: TIMEOUT_MS, calls: MAX_CALLS },
    session: options.session,
    singleUse: options.singleUse,
    signal,
  });
  if (outcome.status !== "completed" || typeof outcome.value !== "string") return undefined;
  return outcome.value === "" ? undefined : outcome.value;
}

function withoutQuestions(
  invoker: ToolInvoker | undefined,
  session: string | undefined,
): ToolInvoker | undefined {
  return (
    invoker && {
      specificationVersion: "v1",
      invoke: (call, context) =>
        invoker.invoke(call, {
          ...context,
          elicit: async () => ({ action: "cancel" }),
          session: session ?? context.session,
        }),
    }
  );
}
