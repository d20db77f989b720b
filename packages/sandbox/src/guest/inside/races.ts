import type { Primordials } from "./primordials.ts";
import type { SetTimer } from "./timers.ts";

/**
 * Finds the timers that are set for a race: those of the statement that calls `Promise.race`, or near it. Once the race is
 * decided nobody waits for them, though most programs leave them running.
 *
 * @returns a function that takes each timer that is set.
 */
export function createRaces(primordials: Primordials): (timer: SetTimer) => void {
  const { PromiseConstructor, apply, create, defineValue, isInstance, promiseThen, resolved } = primordials;
  const original = PromiseConstructor.race as unknown;
  /** The timers that were set since the language last took up a job. */
  const recent = create(null) as Record<number, SetTimer>;
  let count = 0;

  function forget(): void {
    for (; count > 0; count -= 1) delete recent[count - 1];
  }

  /** The same values, the first of which to settle decides the race. */
  function* noted(values: unknown, race: { isDecided: boolean }): Generator<unknown, void> {
    const decide = (): void => void (race.isDecided = true);
    for (const value of values as Iterable<unknown>) {
      if (isInstance(PromiseConstructor, value)) void promiseThen(value as Promise<unknown>, decide, decide);
      yield value;
    }
  }

  const { race } = {
    race(this: unknown, values: unknown): unknown {
      const race = { __proto__: null, isDecided: false } as unknown as { isDecided: boolean };
      for (let index = 0; index < count; index += 1) {
        const timer = recent[index] as SetTimer;
        timer.race ??= race;
      }
      return apply(original, this, [noted(values, race)]);
    },
  };
  defineValue(PromiseConstructor, "race", race, false);

  return (timer) => {
    if (count === 0) void promiseThen(resolved, forget);
    recent[count] = timer;
    count += 1;
  };
}
