import type { ExecuteOptions } from "@cem/core";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { createRunProgress } from "./run-progress.ts";

/** How a task or program is to run, with its progress shown where somebody looks. Once stopped, nothing more is shown. */
export function executeOptions({ signal, live }: CommandContext, options: SharedOptions): ExecuteOptions {
  const { mode, typeCheck } = options;
  if (live === undefined) return { signal, mode, typeCheck };
  const show = createRunProgress(live, options);
  return { signal, mode, typeCheck, onEvent: (event) => signal.aborted || show(event) };
}
