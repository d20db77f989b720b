import type { ExecuteOptions } from "@cem/core";
import type { SharedOptions } from "./command-options.ts";
import type { CommandContext } from "./commands/index.ts";
import { createRunProgress } from "./run-progress.ts";

/** Runs with progress where somebody wants to see it, until it is stopped: what comes after that is no progress. */
export function executeOptions({ signal, live }: CommandContext, options: SharedOptions): ExecuteOptions {
  const { mode, typeCheck } = options;
  const common = { signal, ...(mode && { mode }), ...(typeCheck && { typeCheck }) };
  if (live === undefined) return common;
  const show = createRunProgress(live, options);
  return { ...common, onEvent: (event) => signal.aborted || show(event) };
}
