import { createPrimordials } from "./inside/primordials.ts";

const { apply, codeAt, defineProperty, promiseThen, ...own } = createPrimordials();

/** The built-ins of the guest's own realm, as they were before any program ran. */
export const {
  ByteArray,
  create,
  freeze,
  indexOfByte,
  indexOfText,
  keys,
  parseJson,
  quote,
  setBytes,
  sliceText,
  startsWith,
  subarray,
} = own;

/** A promise of this realm for one of a program's realm, where the program may have changed what promises do. */
export function settled(promise: Promise<void>): Promise<void> {
  void defineProperty(promise, "constructor", { value: undefined });
  return promiseThen(promise, () => {});
}

export const now = performance.now.bind(performance);
const encoder = new TextEncoder();
export const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
export const decode: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);
const fromCode = String.fromCharCode;
/** Arguments of one call. */
const PIECE = 4_096;

/** Bytes as a text with one character for each. */
export function byteText(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; index += PIECE)
    text += apply(fromCode, undefined, subarray(bytes, index, index + PIECE) as never) as string;
  return text;
}

export function bytesOf(text: string): Uint8Array {
  const bytes = new ByteArray(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = codeAt(text, index);
  return bytes;
}
