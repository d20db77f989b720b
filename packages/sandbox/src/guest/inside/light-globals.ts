import type { HostFunction, Primordials } from "./primordials.ts";

/**
 * Leaves in a realm what the language has, without what calls back or makes code by itself, and adds the few things of
 * the runtime that are made of primitives.
 */
export function installLightGlobals(primordials: Primordials, host: HostFunction): void {
  const { create, defineProperty, defineValue, symbols, toNumber } = primordials;
  const own = globalThis as unknown as Record<string, unknown>;
  // Finalizers and waits for threads call back after a run; the others are of the guest's own realm, or of no use.
  for (const name of "Atomics FinalizationRegistry SharedArrayBuffer Temporal WeakRef WebAssembly".split(" "))
    delete own[name];
  delete (Date.prototype as unknown as Record<string, unknown>)["toTemporalInstant"];
  // The runtime gives the function that is found there frames of its own realm.
  const fixed = { __proto__: null, writable: false, enumerable: false, configurable: false };
  defineProperty(Error, "prepareStackTrace", { ...fixed, value: undefined });
  defineProperty(globalThis, "Error", { ...fixed, value: Error });

  const origin = toNumber(host("origin"));
  const performance = create(Object.prototype) as object;
  defineValue(performance, "now", () => host("now"), true);
  defineValue(performance, "timeOrigin", origin, true);
  defineValue(performance, symbols.toStringTag, "Performance", false);
  const crypto = create(Object.prototype) as object;
  defineValue(crypto, "randomUUID", () => host("uuid"), true);
  defineValue(crypto, symbols.toStringTag, "Crypto", false);
  defineValue(globalThis, "performance", performance, true);
  defineValue(globalThis, "crypto", crypto, true);
}
