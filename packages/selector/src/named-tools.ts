import { identifierKey, splitWords } from "@cem/core/text";
import { HASH_SEED, hashOn, type NameIndex } from "./name-index.ts";

/** Text that is written as a name: quoted, beside "tool" or "function", qualified or with underscores. */
const AS_A_NAME =
  /[`"'“‘]([\p{L}\p{N}_.\- ]{1,80})[`"'”’]|\b(?:tool|skill|function|command)s?\s{1,4}(?:named\s{1,4}|called\s{1,4})?([\p{L}\p{N}_.-]{1,80})|([\p{L}\p{N}_.-]{1,80})\s{1,4}(?:tool|skill|function)\b|([\p{L}\p{N}_-]{1,80}[./][\p{L}\p{N}_.-]{1,80}|[\p{L}\p{N}-]{1,80}_[\p{L}\p{N}_-]{1,80})/giu;
const CAMEL_CASE = /\b\p{L}{0,40}\p{Ll}\p{Lu}[\p{L}\p{N}]{0,80}\b/gu;

/** The documents of the tools that a text names. */
export interface NamedTools {
  /** Written as a name: `get_weather`, `getWeather`, `"query"`, `the query tool`, `weather.get_weather`. */
  written: Set<number>;
  /** Named in plain words, which may mean something else: `get weather`. */
  spoken: Set<number>;
}

/**
 * Finds the tools that a text names, in any case style: `weather.get_weather`, `getWeather`, `get weather`. A qualified
 * name stands for that tool alone.
 */
export function findNamed(index: NameIndex, text: string): NamedTools {
  const spoken = new Set<number>();
  const written = new Set<number>();
  const qualified = new Set<number>();
  const words = splitWords(text);
  for (let start = 0; start < words.length; start++) {
    let hash = HASH_SEED;
    for (let end = start; end < Math.min(words.length, start + index.longest); end++) {
      hash = hashOn(hash, words[end] ?? "");
      if (!index.has(hash)) continue;
      const key = words.slice(start, end + 1).join("");
      addAll(spoken, index.find(key, "telling"));
      addAll(qualified, index.find(key, "qualified"));
    }
  }
  for (const match of text.matchAll(AS_A_NAME)) {
    const key = identifierKey(match[1] ?? match[2] ?? match[3] ?? match[4] ?? "");
    addAll(written, index.find(key, "name"));
  }
  for (const [name] of text.matchAll(CAMEL_CASE)) {
    addAll(written, index.find(identifierKey(name), "name"));
  }
  addAll(written, index.find(words.join(""), "name"));
  for (const document of qualified) {
    for (const key of index.keysOf(document)) {
      for (const other of index.find(key, "name")) {
        written.delete(other);
        spoken.delete(other);
      }
    }
  }
  addAll(written, [...qualified]);
  for (const document of written) {
    spoken.delete(document);
  }
  return { written, spoken };
}

function addAll(found: Set<number>, documents: Iterable<number>): void {
  for (const document of documents) {
    found.add(document);
  }
}
