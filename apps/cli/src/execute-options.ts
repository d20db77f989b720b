import type { ExecuteOptions } from "@cem/core";
import type { SharedOptions } from "./command-options.ts";
import type { CommandContext } from "./commands/index.ts";
import { createRunProgress } from "./run-progress.ts";

/** Runs with progress where somebody wants to see it, until it is stopped: what comes after that is no progress. */
export function executeOptions({ signal, live }: CommandContext, options: SharedOptions): ExecuteOptions {
  if (live === undefined) return { signal };
  const show = createRunProgress(live, options);
  return { signal, onEvent: (event) => signal.aborted || show(event) };
}
