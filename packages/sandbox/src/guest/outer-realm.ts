import { brands, deno } from "./deno.ts";
import { listIntrinsics } from "./inside/intrinsics.ts";
import type { OuterRealm } from "./inside/membrane.ts";

const outerGlobal = globalThis as unknown as Record<string, object>;
const readers = new WeakSet<object>([deno.inspect, outerGlobal["structuredClone"] as object]);
const shared = new WeakSet<object>();

// V8 makes it in the realm that asks for it first.
void outerGlobal["Temporal"];

/** Lets a function that only reads its arguments have them as they are. */
export function addReader(reader: object): void {
  readers.add(reader);
}

/** Notes an object that all runs have: what a program sets there is set for itself only. */
export function addShared(object: object): void {
  shared.add(object);
}

/** What this realm, in which no program runs, gives to the realms in which they do. */
export const outerRealm: OuterRealm = Object.freeze({
  __proto__: null,
  global: globalThis,
  intrinsics: listIntrinsics(),
  is: brands,
  makeFunction: (call: (self: unknown, args: readonly unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]) {
      return call(this, args);
    },
  readers,
  shared,
});
