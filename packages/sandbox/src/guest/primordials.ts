import { createPrimordials } from "./inside/primordials.ts";

const { defineProperty, promiseThen, ...own } = createPrimordials();

/** The built-ins of the guest's own realm, as they were before any program ran. */
export const {
  ByteArray,
  apply,
  attempt,
  byteText,
  bytesOf,
  execPattern,
  freeze,
  includesText,
  indexOfByte,
  indexOfText,
  ownProperty,
  parseJson,
  quote,
  setBytes,
  sliceText,
  startsWith,
  subarray,
} = own;

/** Converts a promise of a program's realm to one of this realm: the program may have patched its promises. */
export function settled(promise: Promise<void>): Promise<void> {
  void defineProperty(promise, "constructor", { value: undefined });
  return promiseThen(promise, () => {});
}

export const now = performance.now.bind(performance);
const encoder = new TextEncoder();
export const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
export const decode: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);
