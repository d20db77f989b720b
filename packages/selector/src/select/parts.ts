import type { ToolDefinition } from "@cem/core";
import { splitStems, splitSteps } from "@cem/core/text";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { MAX_PARTS } from "../search/bm25.ts";
import { synonymsOf } from "../words/synonyms.ts";
import { hasAction } from "../words/verbs.ts";

/** A part of a task that is searched on its own. */
export interface Part {
  text: string;
  /** Whether it is the condition of a step. Conditions are mostly about results. */
  isCondition: boolean;
}

/** Splits a task into its conditions and steps, in order. A task of one step is left as it is. */
export function partsOf(task: string): Part[] {
  const parts: Part[] = [];
  const seen = new Set<string>();
  const steps = splitSteps(task);
  const [only] = steps;
  if (steps.length === 1 && only?.condition === undefined) {
    return [{ text: task, isCondition: false }];
  }
  for (const step of steps) {
    const condition = step.condition?.text ?? "";
    for (const [text, isCondition] of [
      [condition, true],
      [[step.text, ...step.items].join("\n"), false],
    ] as const) {
      if (text !== "" && !seen.has(text) && parts.length < MAX_PARTS) {
        seen.add(text);
        parts.push({ text, isCondition });
      }
    }
  }
  return parts;
}

/** Verbs for operations on results, which need no tool. */
const ON_RESULTS =
  /^(?:filter|sort|order|group|rank|limit|reverse|dedupe|deduplicate|print|log|count|sum|total|average|summari[sz]e|aggregate|combine|merge|join|format|keep|take|pick|exclude|round)\b/iu;
/** Verbs that show results, or ask to look something up. */
const SHOWS = /^(?:show|display|output|return|give|tell)\b/iu;
const STATISTICS =
  /^(?:calculate|compute|get|give|show|find|determine|work out|what(?:'s| is| are))\b(?:\s+(?:me|the|a|an|some|basic|simple|summary|their|its|overall))*\s+(?:statistics?|stats|averages?|means?|medians?|modes?|totals?|sums?|counts?|minimum|maximum|min|max|percentages?|standard deviation|variance|number of)\b/iu;
const CHANGE_OF_RESULTS =
  /^(?:add|append|push|insert|put|include|save|store|persist|record|keep|set|mark|update|change|increment|decrement|increase|decrease|rename|move)\b/iu;
const RESULT =
  /\b(?:it|them|this|that|these|those|result|results|state|status|field|fields|step|current_step|value|values|metadata|answer|output|total|list|object|json|counter|property|key|workflow)\b/iu;
const ADDS_A_NUMBER = /^(?:add|increase|decrease)\s+-?\d/iu;
const TWO_NUMBERS = /\d[^\d]+\d/u;
const NUMBER = /\d/u;
const PATH = /\/[\w.-]|(?<![\w-])[\w-]+\.(?:json|txt|md|csv|ya?ml|xml|html?|log)\b/iu;

/**
 * Whether a part of a task only works on results of earlier parts: filter, sort, count, print, statistics, setting a field.
 * A part with a path may need a file tool, and one with numbers to calculate with a calculator.
 */
export function isPlainOperation(text: string): boolean {
  const part = text.trim();
  if (PATH.test(part)) {
    return false;
  }
  if (STATISTICS.test(part)) {
    return !NUMBER.test(part);
  }
  if (ON_RESULTS.test(part)) {
    return !TWO_NUMBERS.test(part);
  }
  return (SHOWS.test(part) || CHANGE_OF_RESULTS.test(part)) && RESULT.test(part) && !ADDS_A_NUMBER.test(part);
}

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
