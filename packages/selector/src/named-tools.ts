import type { ToolDefinition } from "@cem/core";
import { identifierKey, splitWords } from "@cem/text";

/** The most words of a name that are put together, with its server's. */
const MAX_NAME_WORDS = 12;
/** Names of one plain word are words of English too: they count as named only where they stand as a name. */
const AS_A_NAME =
  /[`"'“‘]([\p{L}\p{N}_.\- ]{1,80})[`"'”’]|\b(?:tool|skill|function|command)s?\s{1,4}(?:named\s{1,4}|called\s{1,4})?([\p{L}\p{N}_.-]{1,80})|([\p{L}\p{N}_.-]{1,80})\s{1,4}(?:tool|skill|function)\b|([\p{L}\p{N}_-]{1,80}[./][\p{L}\p{N}_.-]{1,80}|[\p{L}\p{N}-]{1,80}_[\p{L}\p{N}_-]{1,80})/giu;
const CAMEL_CASE = /\b\p{L}{0,40}\p{Ll}\p{Lu}[\p{L}\p{N}]{0,80}\b/gu;

/** Names by their keys, made once for an index. */
export interface NameIndex {
  /** The words of each document's server and names, as {@link nameWords} has them. */
  readonly words: readonly string[];
  /** Names of two words or more. */
  readonly telling: ReadonlyMap<string, readonly number[]>;
  /** Server and name, which stand for one tool. */
  readonly qualified: ReadonlyMap<string, readonly number[]>;
  /** Every name. */
  readonly all: ReadonlyMap<string, readonly number[]>;
  /** Hashes of the telling and the qualified keys: most runs of words are no name. */
  readonly hashes: ReadonlySet<number>;
  /** The most words a name has with its server's. */
  readonly longest: number;
}

/** The words of a tool's server, of its name and of the name its server calls it by, as `server<TAB>name[<TAB>name]`. */
export function nameWords({ server, name, originalName = name }: ToolDefinition): string {
  const names = originalName === name ? [server, name] : [server, name, originalName];
  return names.map((text) => splitWords(text).join(" ")).join("\t");
}

/** From the {@link nameWords} of each tool. */
export function buildNameIndex(words: readonly string[]): NameIndex {
  const telling = new Map<string, number[]>();
  const qualified = new Map<string, number[]>();
  const all = new Map<string, number[]>();
  const hashes = new Set<number>();
  let longest = 1;
  for (const [document, line] of words.entries()) {
    const [server = "", ...names] = line.split("\t");
    for (const name of names) {
      const key = name.replaceAll(" ", "");
      const withServer = server.replaceAll(" ", "") + key;
      add(all, key, document);
      add(qualified, withServer, document);
      hashes.add(hashOn(HASH_SEED, withServer));
      if (key !== name) {
        add(telling, key, document);
        hashes.add(hashOn(HASH_SEED, key));
      }
      longest = Math.max(longest, countWords(server) + countWords(name));
    }
  }
  return { words, telling, qualified, all, hashes, longest: Math.min(longest, MAX_NAME_WORDS) };
}

function countWords(text: string): number {
  return text === "" ? 0 : text.split(" ").length;
}

const HASH_SEED = 0x811c9dc5 | 0;
const HASH_PRIME = 0x01000193;

/** FNV-1a over what follows what was hashed before. */
function hashOn(before: number, text: string): number {
  let hash = before;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME);
  }
  return hash;
}

/** The documents whose tool a text names. */
export interface NamedTools {
  /** As a name: `get_weather`, `getWeather`, `"query"`, `the query tool`, `weather.get_weather`. */
  written: Set<number>;
  /** In plain words, which may mean something else: `get weather`. */
  spoken: Set<number>;
}

/**
 * The documents whose tool a text names, in any case style: `weather.get_weather`, `getWeather`, `get weather`. A
 * name with its server stands for that tool alone.
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
      if (!index.hashes.has(hash)) continue;
      const key = words.slice(start, end + 1).join("");
      addAll(spoken, index.telling.get(key));
      addAll(qualified, index.qualified.get(key));
    }
  }
  for (const match of text.matchAll(AS_A_NAME)) {
    const key = identifierKey(match[1] ?? match[2] ?? match[3] ?? match[4] ?? "");
    addAll(written, index.all.get(key));
  }
  for (const [name] of text.matchAll(CAMEL_CASE)) {
    addAll(written, index.all.get(identifierKey(name)));
  }
  addAll(written, index.all.get(words.join("")));
  for (const document of qualified) {
    const [, ...names] = (index.words[document] ?? "").split("\t");
    for (const name of names) {
      for (const other of index.all.get(name.replaceAll(" ", "")) ?? []) {
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

function add(map: Map<string, number[]>, key: string, document: number): void {
  if (key === "") {
    return;
  }
  const list = map.get(key);
  if (list === undefined) {
    map.set(key, [document]);
  } else if (list.at(-1) !== document) {
    list.push(document);
  }
}

function addAll(found: Set<number>, documents: readonly number[] | undefined): void {
  for (const document of documents ?? []) {
    found.add(document);
  }
}
