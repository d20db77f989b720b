import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Lets signals and timers that are due take effect. A long program is read without a pause, in which nobody can cancel.
 *
 * @throws the signal's reason where the run was cancelled meanwhile.
 */
export async function heedAbort(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}
