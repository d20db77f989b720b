import type { ToolDefinition } from "@cem/core";
import { isVerb, splitWords } from "@cem/text";
import { isKnownVerb } from "./verbs.ts";

/** What people call what a tool gives: `get_weather` gives weather. */
export function resultWords(tool: ToolDefinition): string {
  const words = splitWords(tool.name).filter(
    (word, at, all) =>
      !(isKnownVerb(word) && all.length > 1 && at === 0) && !/^(?:by|for|of|the|from|to|and|in)$/u.test(word),
  );
  const [verb = "", ...object] = splitWords(tool.name);
  if (isVerb(verb) && object.length > 0 && object.every((word) => GENERIC.test(word)))
    return verb.replace(/e?$/u, "ed");
  if (words.length === 1 && words[0] === splitWords(tool.name).join("")) return "result";
  if (words.includes("search")) return "search results";
  if (
    /^(?:read|get|load|fetch)$/u.test(splitWords(tool.name)[0] ?? "") &&
    words[0]?.startsWith("file") === true
  )
    return "content";
  if (/^list$/u.test(splitWords(tool.name)[0] ?? "") && /director|folder/u.test(words.join(" ")))
    return "entries";
  return words.join(" ");
}

const GENERIC = /^(?:number|numbers|value|text|string|word|words|list|items|input|data)$/u;
