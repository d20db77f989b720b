import { createContext, Script } from "node:vm";

const context = createContext(Object.create(null) as object);
const script = new Script("task()");

/** Thrown by {@link runWithTimeout} when the task was stopped. */
export class SyncTimeoutError extends Error {
  override readonly name = "SyncTimeoutError";
}

/** A task that used this share of its time was not kept waiting. */
const MIN_USED_SHARE = 0.5;
/** How much longer than its timeout a task may take by the clock, where other processes keep this one waiting. */
const MAX_WAITING = 8;

/**
 * Runs a synchronous task and stops it at the timeout. A synchronous call can't be ended from its own thread in any
 * other way, and hostile input can make a parser or a regular expression run for hours.
 *
 * @param task - Is run again where a busy machine kept it from using its time.
 * @param timeoutMs - Of processor time, in milliseconds, a whole number above 0.
 * @throws SyncTimeoutError when the task was stopped; whatever the task throws otherwise.
 */
export function runWithTimeout<Result>(task: () => Result, timeoutMs: number): Result {
  const start = usedMs();
  for (let waitMs = timeoutMs; ; waitMs *= 2) {
    context["task"] = task;
    try {
      return script.runInContext(context, { timeout: waitMs }) as Result;
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const isOver = usedMs() - start >= timeoutMs * MIN_USED_SHARE || waitMs >= timeoutMs * MAX_WAITING;
      if (isOver) throw new SyncTimeoutError(`The task was stopped after ${timeoutMs} ms.`, { cause: error });
    } finally {
      context["task"] = undefined;
    }
  }
}

/** The processor time that this thread has used, in milliseconds; of the whole process in a Node before 23.9. */
function usedMs(): number {
  const clock: { threadCpuUsage?: () => NodeJS.CpuUsage; cpuUsage: () => NodeJS.CpuUsage } = process;
  const { user, system } = clock.threadCpuUsage?.() ?? clock.cpuUsage();
  return (user + system) / 1000;
}
