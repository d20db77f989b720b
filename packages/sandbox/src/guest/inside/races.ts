import type { Pending } from "./pending.ts";
import type { Primordials } from "./primordials.ts";

/**
 * Replaces `Promise.race` and `Promise.any`, so that the run does not wait for a call that lost: to a timeout of the
 * program's own, or to another call by `any`. Where a call wins a race, others are usually awaited later.
 */
export function installRaces(primordials: Primordials, pending: Pending): void {
  const { PromiseConstructor, apply, attempt, defineValue, isArray, isInstance, promiseThen } = primordials;

  function follow(items: readonly unknown[], name: "race" | "any"): void {
    // The program may change its list.
    const calls: unknown[] = [];
    for (let index = 0; index < items.length; index += 1)
      if (pending.isCall(items[index])) defineValue(calls, `${calls.length}`, items[index], true);
    if (calls.length === 0) return;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (!isInstance(PromiseConstructor, item)) continue;
      const decide = (): void => {
        if (name === "race" && pending.isCall(item)) return;
        for (let lost = 0; lost < calls.length; lost += 1) pending.lose(calls[lost]);
      };
      // A proxy of a promise is none.
      attempt(
        () => void promiseThen(item as Promise<unknown>, decide, name === "race" ? decide : () => {}),
        undefined,
      );
    }
  }

  const replace = (name: "race" | "any"): void => {
    const original = PromiseConstructor[name];
    const replaced = {
      [name](this: unknown, items: unknown) {
        const result: unknown = apply(original, this, [items]);
        if (isArray(items)) follow(items, name);
        return result;
      },
    };
    defineValue(PromiseConstructor, name, replaced[name], true);
  };
  replace("race");
  replace("any");
}
