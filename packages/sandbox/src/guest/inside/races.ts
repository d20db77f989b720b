import type { TimerSettings } from "./globals.ts";
import type { Primordials } from "./primordials.ts";

/**
 * Finds the timers that are set for a race: those of the statement that calls `Promise.race`, or near it. Once the race is
 * decided nobody waits for them, though most programs leave them running.
 *
 * @returns a function that takes each timer that is set.
 */
export function createRaces(primordials: Primordials): (timer: TimerSettings) => void {
  const { PromiseConstructor, apply, create, defineValue, promiseThen } = primordials;
  const settled = promiseThen(new PromiseConstructor<void>((resolve) => resolve()), () => {});
  const original = PromiseConstructor.race as unknown;
  /** The timers that were set since the language last took up a job. */
  const recent = create(null) as Record<number, TimerSettings>;
  let count = 0;

  function forget(): void {
    for (; count > 0; count -= 1) delete recent[count - 1];
  }

  const { race } = {
    race(this: unknown, values: unknown): unknown {
      const promise = apply(original, this, [values]) as Promise<unknown>;
      for (let index = 0; index < count; index += 1) {
        const timer = recent[index] as TimerSettings;
        timer.race ??= promise;
      }
      return promise;
    },
  };
  defineValue(PromiseConstructor, "race", race, false);

  return (timer) => {
    if (count === 0) void promiseThen(settled, forget);
    recent[count] = timer;
    count += 1;
  };
}
