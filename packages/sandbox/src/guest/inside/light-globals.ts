import type { Ask, HostFunction, Primordials } from "./primordials.ts";

/**
 * Leaves in a realm what the language has, without what calls back or makes code by itself, and adds the few things of
 * the runtime that are made of primitives.
 */
export function installLightGlobals(primordials: Primordials, host: HostFunction, ask: Ask): void {
  const { ByteArray, byteText, bytesOf, create, defineProperty, defineValue } = primordials;
  const { isInstance, isView, symbols, toNumber, toText, typedArrayLength } = primordials;
  const own = globalThis as unknown as Record<string, unknown>;
  // Finalizers and waits for threads call back after a run; the others are of the guest's own realm, or of no use.
  for (const name of "Atomics FinalizationRegistry SharedArrayBuffer Temporal WeakRef WebAssembly".split(" "))
    delete own[name];
  delete (Date.prototype as unknown as Record<string, unknown>)["toTemporalInstant"];
  // The runtime gives the function that is found there frames of its own realm.
  const fixed = { __proto__: null, writable: false, enumerable: false, configurable: false };
  defineProperty(Error, "prepareStackTrace", { ...fixed, value: undefined });
  defineProperty(globalThis, "Error", { ...fixed, value: Error });

  const functions = {
    __proto__: null as never,
    atob: (text: unknown) => ask("atob", toText(text)),
    btoa: (text: unknown) => ask("btoa", toText(text)),
  } as unknown as Record<string, unknown>;
  for (const name in functions) defineValue(globalThis, name, functions[name], true);

  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }
    encode(text: unknown = ""): Uint8Array {
      return bytesOf(host("encode", toText(text)) as string);
    }
  }
  class TextDecoder {
    get encoding(): string {
      return "utf-8";
    }
    decode(list?: unknown): string {
      if (list === undefined) return "";
      const view = isView(list)
        ? new ByteArray(
            (list as Uint8Array).buffer,
            (list as Uint8Array).byteOffset,
            (list as Uint8Array).byteLength,
          )
        : new ByteArray(list as ArrayBuffer);
      if (!isInstance(ByteArray, view)) return "";
      return host("decode", byteText(view, typedArrayLength(view))) as string;
    }
  }
  defineValue(globalThis, "TextEncoder", TextEncoder, false);
  defineValue(globalThis, "TextDecoder", TextDecoder, false);

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
