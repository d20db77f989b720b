import type { HostFunction, Primordials } from "./primordials.ts";

/**
 * Reduces a realm to the language, without features that call back later or are of no use, and adds the few features of
 * the runtime that work with primitives.
 */
export function installLightGlobals(primordials: Primordials, host: HostFunction): void {
  const { create, defineProperty, defineValue, symbols, toNumber } = primordials;
  const own = globalThis as unknown as Record<string, unknown>;
  // Finalizers and thread waits call back after a run; the others belong to the guest's own realm or are of no use.
  for (const name of "Atomics FinalizationRegistry SharedArrayBuffer Temporal WeakRef WebAssembly".split(" "))
    delete own[name];
  delete (Date.prototype as unknown as Record<string, unknown>)["toTemporalInstant"];
  // The runtime would call a function found here with frames of its own realm.
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
