import type { ToolDefinition } from "@cem/core";
import { identifierKey, splitWords } from "@cem/core/text";
import { addMember, createLookup, toGroups } from "./groups.ts";

/** Maximum number of words of a name, with its server's, to look up. */
const MAX_NAME_WORDS = 12;
/** Text written as a name: quoted, next to "tool" or "function", qualified or with underscores. */
const AS_A_NAME =
  /[`"'“‘]([\p{L}\p{N}_.\- ]{1,80})[`"'”’]|\b(?:tool|skill|function|command)s?\s{1,4}(?:named\s{1,4}|called\s{1,4})?([\p{L}\p{N}_.-]{1,80})|([\p{L}\p{N}_.-]{1,80})\s{1,4}(?:tool|skill|function)\b|([\p{L}\p{N}_-]{1,80}[./][\p{L}\p{N}_.-]{1,80}|[\p{L}\p{N}-]{1,80}_[\p{L}\p{N}_-]{1,80})/giu;
const CAMEL_CASE = /\b\p{L}{0,40}\p{Ll}\p{Lu}[\p{L}\p{N}]{0,80}\b/gu;

/** The words of a tool's server, name and original name, as `server<TAB>name[<TAB>original name]`. */
export function nameWords({ server, name, originalName = name }: ToolDefinition): string {
  const names = originalName === name ? [server, name] : [server, name, originalName];
  return names.map((text) => splitWords(text).join(" ")).join("\t");
}

/** The documents by the names of their tools. The key of a name is its joined words. */
export type Names = ReturnType<typeof readNames>;

/** @param lines - The {@link nameWords} of each document. */
export function readNames(lines: readonly string[]) {
  const byName = new Map<string, number[]>();
  const byQualifiedName = new Map<string, number[]>();
  /** The maximum number of words of any name together with its server's. */
  let longest = 1;
  for (const [document, line] of lines.entries()) {
    const [server = "", ...names] = line.split("\t");
    for (const name of names) {
      add(byName, keyOf(name), document);
      add(byQualifiedName, keyOf(server + name), document);
      longest = Math.max(longest, server.split(" ").length + name.split(" ").length);
    }
  }
  return {
    lines,
    byName: toGroups(byName),
    byQualifiedName: toGroups(byQualifiedName),
    longest: Math.min(longest, MAX_NAME_WORDS),
  };
}

/** Finds the documents of the tools that a text names: `weather.get_weather`, `getWeather`, `"query"`, `the query tool`. */
export function createNameIndex({ lines, longest, ...names }: Names): (text: string) => Set<number> {
  const byName = createLookup(names.byName);
  const byQualifiedName = createLookup(names.byQualifiedName);

  const findQualified = (spoken: readonly string[]): Set<number> => {
    const found = new Set<number>();
    for (let start = 0; start < spoken.length; start++) {
      let key = "";
      for (let end = start; end < Math.min(spoken.length, start + longest); end++) {
        key += spoken[end] ?? "";
        for (const document of byQualifiedName(key)) found.add(document);
      }
    }
    return found;
  };

  return (text) => {
    const written = new Set<number>();
    const spoken = splitWords(text);
    const names = [...text.matchAll(AS_A_NAME)].map((match) => match.slice(1).find((part) => part) ?? "");
    for (const name of [...names, ...(text.match(CAMEL_CASE) ?? []), spoken.join("")]) {
      for (const document of byName(identifierKey(name))) written.add(document);
    }
    const qualified = findQualified(spoken);
    for (const document of qualified) {
      const [, ...own] = (lines[document] ?? "").split("\t");
      for (const name of own) for (const other of byName(keyOf(name))) written.delete(other);
    }
    return new Set([...written, ...qualified]);
  };
}

function add(index: Map<string, number[]>, key: string, document: number): void {
  if (key !== "") addMember(index, key, document);
}

function keyOf(words: string): string {
  return words.replaceAll(" ", "");
}
