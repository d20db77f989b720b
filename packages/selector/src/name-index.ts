import type { ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/core/text";

/** The most words of a name, with its server's, that are looked up. */
const MAX_NAME_WORDS = 12;
const TAB = 9;
const SPACE = 32;

/** The FNV-1a offset basis. */
export const HASH_SEED = 0x811c9dc5 | 0;
const HASH_PRIME = 0x01000193;

/** Continues an FNV-1a hash with more text. */
export function hashOn(before: number, text: string): number {
  let hash = before;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME);
  }
  return hash;
}

/** The words of a tool's server, name and original name, as `server<TAB>name[<TAB>original name]`. */
export function nameWords({ server, name, originalName = name }: ToolDefinition): string {
  const names = originalName === name ? [server, name] : [server, name, originalName];
  return names.map((text) => splitWords(text).join(" ")).join("\t");
}

/** Which names to find: any `name`, a `telling` one of two words or more, or a `qualified` one with its server's. */
export type NameKind = "name" | "telling" | "qualified";

/** Finds tools by name. The key of a name is its joined words. A hash table of its own, since it is built faster than a Map. */
export class NameIndex {
  /** The {@link nameWords} of each document. */
  readonly words: readonly string[];
  /** The most words of any name together with its server's. */
  readonly longest: number;
  readonly #mask: number;
  /** The first entry of each bucket, counted from 1. */
  readonly #heads: Uint32Array;
  readonly #next: number[] = [0];
  readonly #hashes: number[] = [0];
  readonly #documents: number[] = [0];

  constructor(words: readonly string[]) {
    this.words = words;
    // Two keys for each name, at a load factor of one half.
    const size = 1 << Math.ceil(Math.log2(4 * words.length + 1));
    this.#mask = size - 1;
    this.#heads = new Uint32Array(size);
    let longest = 1;
    // In reverse, since the last entry comes first in its bucket.
    for (let document = words.length - 1; document >= 0; document--) {
      longest = Math.max(longest, this.#addLine(words[document] ?? "", document));
    }
    this.longest = Math.min(longest, MAX_NAME_WORDS);
  }

  /** Whether a key has this hash. */
  has(hash: number): boolean {
    for (let entry = this.#heads[hash & this.#mask] ?? 0; entry !== 0; entry = this.#next[entry] ?? 0) {
      if (this.#hashes[entry] === hash) return true;
    }
    return false;
  }

  /** The documents with this key, in order. */
  find(key: string, kind: NameKind): Set<number> {
    const found = new Set<number>();
    if (key === "") return found;
    const hash = hashOn(HASH_SEED, key);
    for (let entry = this.#heads[hash & this.#mask] ?? 0; entry !== 0; entry = this.#next[entry] ?? 0) {
      const document = this.#documents[entry] ?? 0;
      if (this.#hashes[entry] === hash && this.#hasKey(document, key, kind)) found.add(document);
    }
    return found;
  }

  /** The keys of a document's names. */
  keysOf(document: number): string[] {
    const [, ...names] = (this.words[document] ?? "").split("\t");
    return names.map((name) => name.replaceAll(" ", ""));
  }

  #hasKey(document: number, key: string, kind: NameKind): boolean {
    const [server = "", ...names] = (this.words[document] ?? "").split("\t");
    const before = kind === "qualified" ? server.replaceAll(" ", "") : "";
    return names.some(
      (name) => (kind !== "telling" || name.includes(" ")) && before + name.replaceAll(" ", "") === key,
    );
  }

  /** Adds the keys of one document in a single pass; returns its highest number of words. */
  #addLine(line: string, document: number): number {
    let server = HASH_SEED;
    let alone = HASH_SEED;
    let withServer = HASH_SEED;
    let isServer = true;
    let serverWords = 0;
    let words = 0;
    let longest = 0;
    let before = TAB;
    for (let at = 0; at <= line.length; at++) {
      const code = at === line.length ? TAB : line.charCodeAt(at);
      if (code === TAB) {
        if (isServer) {
          server = withServer;
          serverWords = words;
          isServer = false;
        } else {
          this.#add(alone, document);
          this.#add(withServer, document);
          longest = Math.max(longest, serverWords + words);
        }
        alone = HASH_SEED;
        withServer = server;
        words = 0;
      } else if (code !== SPACE) {
        if (before === TAB || before === SPACE) words += 1;
        alone = Math.imul(alone ^ code, HASH_PRIME);
        withServer = Math.imul(withServer ^ code, HASH_PRIME);
      }
      before = code;
    }
    return longest;
  }

  #add(hash: number, document: number): void {
    const bucket = hash & this.#mask;
    const entry = this.#hashes.push(hash) - 1;
    this.#documents.push(document);
    this.#next.push(this.#heads[bucket] ?? 0);
    this.#heads[bucket] = entry;
  }
}
