import type { ToolDefinition } from "@cem/core";
import { splitStems } from "@cem/core/text";
import { hasAction } from "./actions.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { synonymsOf } from "./synonyms.ts";

const QUANTITY =
  /\b(?:that many|as many|how many|so many|many|several|multiple|various|all|each|every|some|any|a few|top|first|random|different|\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?:(?:of|the|other|more|different|available|random|known|large|largest|big|biggest)\s+){0,3}(\p{L}{3,40})(?!\p{L})(?!\s+(?:of|in|from)\s+(?:our|my|your|his|her|their|those|these)\b)/giu;

/**
 * Finds the tool of the same server that lists the arguments of a tool, when a part asks for a number of them: `weather
 * for that many cities` needs `list_locations` beside `get_weather`.
 *
 * @returns The document of the tool; `undefined` when there is none.
 */
export function findSupplier(index: LexicalIndex, document: number, part: string): number | undefined {
  const tool = index.tools[document];
  if (tool === undefined) {
    return undefined;
  }
  const wanted = [...part.matchAll(QUANTITY)]
    .flatMap((match) => splitStems(match[1] ?? ""))
    .flatMap(withSynonyms);
  const taken = new Set(
    Object.keys(tool.inputSchema.properties ?? {})
      .flatMap(splitStems)
      .flatMap(withSynonyms),
  );
  if (!wanted.some((word) => taken.has(word))) {
    return undefined;
  }
  const supplier = index.tools.findIndex(
    (other, at) =>
      at !== document &&
      index.serverOf[at] === index.serverOf[document] &&
      hasAction(index.actionsOf[at], "list") &&
      needsNothing(other) &&
      splitStems(other.name).some((word) => wanted.includes(word)),
  );
  return supplier < 0 ? undefined : supplier;
}

function withSynonyms(word: string): string[] {
  return [word, ...synonymsOf(word)];
}

function needsNothing(tool: ToolDefinition): boolean {
  return !Array.isArray(tool.inputSchema.required) || tool.inputSchema.required.length === 0;
}
