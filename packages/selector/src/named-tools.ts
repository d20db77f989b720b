import type { ToolDefinition } from "@cem/core";
import { identifierKey, splitWords } from "@cem/text";
import { wordsOf } from "./remembered-words.ts";

/** The most words of a name that are put together, with its server's. */
const MAX_NAME_WORDS = 12;
/** Names of one plain word are words of English too: they count as named only where they stand as a name. */
const AS_A_NAME =
  /[`"'“‘]([\p{L}\p{N}_.\- ]{1,80})[`"'”’]|\b(?:tool|skill|function|command)s?\s{1,4}(?:named\s{1,4}|called\s{1,4})?([\p{L}\p{N}_.-]{1,80})|([\p{L}\p{N}_.-]{1,80})\s{1,4}(?:tool|skill|function)\b|([\p{L}\p{N}_-]{1,80}[./][\p{L}\p{N}_.-]{1,80}|[\p{L}\p{N}-]{1,80}_[\p{L}\p{N}_-]{1,80})/giu;
const CAMEL_CASE = /\b\p{L}{0,40}\p{Ll}\p{Lu}[\p{L}\p{N}]{0,80}\b/gu;

/** Names by their keys, made once for an index. */
export interface NameIndex {
  /** Names of two words or more. */
  readonly telling: ReadonlyMap<string, readonly number[]>;
  /** Server and name, which stand for one tool. */
  readonly qualified: ReadonlyMap<string, readonly number[]>;
  /** Every name. */
  readonly all: ReadonlyMap<string, readonly number[]>;
  /** The keys of each document's names. */
  readonly keys: readonly (readonly string[])[];
  /** The most words a name has with its server's. */
  readonly longest: number;
}

export function buildNameIndex(tools: readonly ToolDefinition[]): NameIndex {
  const telling = new Map<string, number[]>();
  const qualified = new Map<string, number[]>();
  const all = new Map<string, number[]>();
  const keys: string[][] = [];
  let longest = 1;
  for (const [document, tool] of tools.entries()) {
    for (const name of new Set([tool.name, tool.originalName ?? tool.name])) {
      const words = wordsOf(name);
      const withServer = [...wordsOf(tool.server), ...words];
      (keys[document] ??= []).push(words.join(""));
      add(all, words.join(""), document);
      add(qualified, withServer.join(""), document);
      if (words.length > 1) {
        add(telling, words.join(""), document);
      }
      longest = Math.max(longest, withServer.length);
    }
  }
  return { telling, qualified, all, keys, longest: Math.min(longest, MAX_NAME_WORDS) };
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
    let key = "";
    for (let end = start; end < Math.min(words.length, start + index.longest); end++) {
      key += words[end];
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
    for (const key of index.keys[document] ?? []) {
      for (const other of index.all.get(key) ?? []) {
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
  } else if (!list.includes(document)) {
    list.push(document);
  }
}

function addAll(found: Set<number>, documents: readonly number[] | undefined): void {
  for (const document of documents ?? []) {
    found.add(document);
  }
}
