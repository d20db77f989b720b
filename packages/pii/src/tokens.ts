import type { PiiType } from "./types.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** 80 bits: not to be guessed. */
const ID_CHARACTERS = 16;
/** A domain that never receives mail and is never found (RFC 6761). */
const DOMAIN = "redacted.invalid";

/** The forms of a token that say themselves that they are one. */
export type TokenForm = "plain" | "email" | "uri";

export function randomId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(ID_CHARACTERS));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Writes a token. */
export function formatToken(type: PiiType, id: string, form: TokenForm = "plain"): string {
  if (form === "email") return `user.${id}@${DOMAIN}`;
  return form === "uri" ? `https://${DOMAIN}/${id}` : `[[${type}:${id}]]`;
}

/** Replaces letters by random letters and digits by random digits, so that what was asked of the form still holds. */
export function sameShape(value: string): string {
  const random = globalThis.crypto.getRandomValues(new Uint8Array(value.length));
  let index = 0;
  return value.replace(/[a-zA-Z\d]/g, (character) => {
    const byte = random[index++] ?? 0;
    if (/\d/.test(character)) return String(byte % 10);
    const letter = String.fromCharCode(97 + (byte % 26));
    return character < "a" ? letter.toUpperCase() : letter;
  });
}

/** A random number of 16 digits that is no number of a card: none begins with 89. */
export function randomNumber(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return 8_900_000_000_000_000 + ((high * 2 ** 20 + low) % 99_999_999_999_999);
}

/** A random address of a block that is never assigned: 240.0.0.0/4, or 100::/64. */
export function randomAddress(version: 4 | 6): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(8));
  if (version === 4) return [240 + ((bytes[0] ?? 0) % 15), bytes[1], bytes[2], bytes[3]].join(".");
  const words = [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return `100::${words.join(":").replace(/^0:/, "1:")}`;
}
