import { toolId } from "@cem/core";
import type { Finding, GenerationRefused, RankedTool, RunStop, UnfilledStep } from "@cem/core";
import { failure, type Ending } from "./ending.ts";

const CODES = {
  "no-tool": "NO_TOOL",
  "missing-argument": "ARGUMENT_MISSING",
  "not-understood": "TASK_NOT_UNDERSTOOD",
} as const;

/**
 * The ending of a task for which no code was written: it needs something that is missing.
 *
 * @param facts - The closest tools, and the number of tools in the catalog.
 */
export function refusedGeneration(
  refusal: GenerationRefused,
  { nearest, tools }: { nearest: readonly RankedTool[]; tools: number },
): Ending {
  const { reason } = refusal.steps[0] ?? { reason: "no-tool" as const };
  const details = {
    steps: refusal.steps,
    tools,
    nearest: nearest.map(({ tool, score }) => ({ tool: toolId(tool), score })),
  };
  return failure(CODES[reason], `${hintsOf(refusal)} Nothing was run.`, details, "refused");
}

export function refusedByMeter({ code, message, details }: RunStop): Ending {
  return failure(code, message, details, "refused");
}

export function hintsOf({ steps }: GenerationRefused): string {
  return steps.map(({ hint }) => hint).join(" ");
}

/** Adds to a refusal the unavailable tools that fit the task, with the reason. */
export function withUnavailable(refusal: GenerationRefused, task: string, fitting: readonly RankedTool[]) {
  const steps = fitting.flatMap(({ tool }): UnfilledStep[] => {
    const { unavailable } = tool;
    if (unavailable === undefined) return [];
    const hint = `${toolId(tool)} fits, but can't be called: ${unavailable.message}`;
    return [{ step: task, reason: "no-tool", tool: toolId(tool), hint, unavailable }];
  });
  return steps.length === 0 ? refusal : { ...refusal, steps: [...refusal.steps, ...steps] };
}

function describe({ line, message, hint }: Finding): string {
  // A hint that ends with a command has no full stop, so two spaces separate it.
  const told = hint === undefined ? message : `${message} ${hint}${/[.!?]$/u.test(hint) ? "" : " "}`;
  return line === undefined ? told : `Line ${line}: ${told}`;
}

/** An earlier attempt of a model may have run and done something. */
function whatRan(earlier: boolean): string {
  return earlier ? "This code was not run; an earlier attempt was." : "Nothing was run.";
}

export function refusedCode(
  code: "CODE_REFUSED" | "CODE_MISTYPED",
  findings: readonly Finding[],
  { ranBefore }: { ranBefore: boolean },
): Ending {
  const errors = findings.filter(({ severity }) => severity === "error");
  const shown = errors.length > 0 ? errors : findings;
  const message = `${shown.map(describe).join(" ")} ${whatRan(ranBefore)}`;
  const place = code === "CODE_MISTYPED" && { line: errors[0]?.line };
  return failure(code, message, { findings, ...place }, "refused");
}
