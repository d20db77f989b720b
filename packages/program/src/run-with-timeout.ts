import { createContext, Script } from "node:vm";

const context = createContext(Object.create(null) as object);
const script = new Script("task()");

/** Thrown by {@link runWithTimeout} when the task was stopped. */
export class SyncTimeoutError extends Error {
  override readonly name = "SyncTimeoutError";
}

/** A task that used this fraction of its time as processor time was not delayed by other load. */
const MIN_USED_SHARE = 0.5;
/** Factor by which the elapsed time may exceed the timeout if other processes delay this one. */
const MAX_WAITING = 8;

/**
 * Runs a synchronous task and stops it at the timeout. A synchronous call can't be ended from its own thread in any
 * other way, and hostile input can make a parser or a regular expression run for hours.
 *
 * @param task - Is retried if a busy machine kept it from using its time.
 * @param timeoutMs - Processor time, in milliseconds, an integer above 0.
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

/** The processor time used by this thread, in milliseconds; by the whole process before Node.js 23.9. */
function usedMs(): number {
  const clock: { threadCpuUsage?: () => NodeJS.CpuUsage; cpuUsage: () => NodeJS.CpuUsage } = process;
  const { user, system } = clock.threadCpuUsage?.() ?? clock.cpuUsage();
  return (user + system) / 1000;
}
