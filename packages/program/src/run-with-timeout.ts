import { createContext, Script } from "node:vm";

const context = createContext(Object.create(null) as object);
const script = new Script("task()");

/** Thrown by {@link runWithTimeout} when the task was stopped. */
export class SyncTimeoutError extends Error {
  override readonly name = "SyncTimeoutError";
}

/**
 * Runs a synchronous task and stops it at the timeout. A synchronous call can't be ended from its own thread in any
 * other way, and hostile input can make a parser or a regular expression run for hours.
 *
 * @param timeoutMs - In milliseconds, a whole number above 0.
 * @throws SyncTimeoutError when the task was stopped; whatever the task throws otherwise.
 */
export function runWithTimeout<Result>(task: () => Result, timeoutMs: number): Result {
  context["task"] = task;
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as Result;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new SyncTimeoutError(`The task was stopped after ${timeoutMs} ms.`, { cause: error });
    }
    throw error;
  } finally {
    context["task"] = undefined;
  }
}
