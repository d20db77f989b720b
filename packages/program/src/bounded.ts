import { createContext, Script } from "node:vm";

const context = createContext(Object.create(null) as object);
const script = new Script("task()");

/** Thrown when a task had to be stopped. */
export class TimeBoundReached extends Error {
  override readonly name = "TimeBoundReached";
}

/**
 * Runs a synchronous task and stops it after `limitMs`. The parser needs this: a few dozen characters of nested
 * generics (`<T>(<T>(…`) keep it busy for hours, and a synchronous call can't be ended from the same thread
 * in any other way.
 */
export function runBounded<Result>(task: () => Result, limitMs: number): Result {
  context["task"] = task;
  try {
    return script.runInContext(context, { timeout: limitMs }) as Result;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new TimeBoundReached(`stopped after ${limitMs} ms`, { cause: error });
    }
    throw error;
  } finally {
    context["task"] = undefined;
  }
}
