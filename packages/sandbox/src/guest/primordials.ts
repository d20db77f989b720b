import { createPrimordials } from "./inside/primordials.ts";

/** The built-ins of the guest's own realm, in which no program runs. */
export const {
  ByteArray,
  create,
  defineProperty,
  execPattern,
  freeze,
  includesText,
  indexOfByte,
  indexOfText,
  isArray,
  isInstance,
  keys,
  ownKeys,
  parseJson,
  promiseThen,
  quote,
  SafeWeakMap,
  setBytes,
  sliceText,
  startsWith,
  subarray,
  toText,
} = createPrimordials();

export const now = performance.now.bind(performance);
const encoder = new TextEncoder();
export const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
export const decode: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);
