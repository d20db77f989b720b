import type { Store } from "@cem/core";
import { storeUnavailable } from "@cem/store";

/**
 * A store whose calls fail when `fails` says so, before they did anything or after: then the answer is lost.
 *
 * @param fails - Is asked twice for each call.
 */
export function faultyStore(store: Store, fails: () => boolean): Store {
  const failure = (): Error => storeUnavailable(store.location, new Error("cut off"));
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name];
      if (typeof member !== "function" || name === "close") return member;
      return async (...args: unknown[]) => {
        if (fails()) throw failure();
        const answer = await (member as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        if (fails()) throw failure();
        return answer;
      };
    },
  });
}
