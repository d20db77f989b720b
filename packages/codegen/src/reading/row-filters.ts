import { lookUp } from "./look-up.ts";
import { PROPERTY_WORDS } from "../planning/references.ts";
import { singular } from "../program/names.ts";
import type { Phrase } from "./phrase.ts";
import { NUMBER, QUOTED } from "./phrase.ts";
import { type Comparison, FIELD, type RowSelection, toField } from "./row-selection.ts";

const SIGNS: readonly [string, Comparison][] = [
  [
    ">=|≥|is at least|at least|no less than|not less than|is greater than or equal to|greater than or equal to|is or above",
    ">=",
  ],
  [
    "<=|≤|is at most|at most|no more than|not more than|up to|is less than or equal to|less than or equal to",
    "<=",
  ],
  ["(?:is |are |was |were |being )?not (?:equal to )?|!==?|<>|is not|isn't|other than|does not equal", "!=="],
  [
    ">|(?:is |are |was |costs? |cost )?(?:above|over|greater than|more than|bigger than|larger than|higher than|exceeds|exceeding|after|later than|beyond)",
    ">",
  ],
  [
    "<|(?:is |are |was |costs? |cost )?(?:below|under|less than|fewer than|smaller than|lower than|before|earlier than)",
    "<",
  ],
  ["===?|=|:|is equal to|equals|equal to|is exactly|is|are|was|of", "==="],
];

const VALUE = `${QUOTED}|\\d{4}-\\d{2}-\\d{2}|${NUMBER}|[\\p{L}\\p{N}_][\\p{L}\\p{N}_.@-]*`;

const NO_FIELD =
  /^(?:items?|entries|rows?|records?|those|ones?|all|that|which|who|the|where|with|and|or|by|in|of|than|is|are|only)$/iu;

/** `orders of user 3`. */
export function readOwner(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    /\b(?:of|for|by|from|with)\s+(?:the\s+)?(\p{Ll}[\p{Ll}_]*?)(?:\s+(?:id|number|no\.?|with id))?\s+#?(\d+)(?![\p{L}\d.])/u,
  );
  if (match?.[1] === undefined) return;
  const word = match[1] === "id" ? "" : `${singular(match[1]).replace(/_?id$/u, "")}_`;
  const field =
    /^(?:year|day|month|hour|quantity|age|price|total|stock|count|limit|rating|score|amount)_$/u.test(word)
      ? word.slice(0, -1)
      : `${word}id`;
  selection.filters.push({ field, comparison: "===", value: Number(match[2]) });
}

export function readFilters(phrase: Phrase, selection: RowSelection): void {
  const comparatives = Object.entries(PROPERTY_WORDS)
    .filter(([word]) => word.endsWith("er"))
    .map(([word]) => word)
    .join("|");
  for (let guard = 0; guard < 20; guard += 1) {
    const comparative = phrase.take(
      new RegExp(
        `(?:\\b(?:who|that|which)\\s+(?:are|is)\\s+|\\band\\s+)?\\b(?:(${comparatives})|(more|less) (expensive|old|heavy|long))\\s+than\\s+(${NUMBER})(?:\\s+(?:years?(?:\\s+old)?|dollars?|euros?|degrees?|usd|eur))?`,
        "iu",
      ),
    );
    if (comparative !== undefined) {
      const word = (comparative[1] ?? comparative[3] ?? "").toLowerCase();
      const isLess =
        /^(?:younger|cheaper|colder|cooler|lighter|shorter|slower)$/u.test(word) ||
        /^less$/iu.test(comparative[2] ?? "");
      const meant = lookUp(PROPERTY_WORDS, word)?.[0] ?? word;
      selection.filters.push({
        field: meant,
        comparison: isLess ? "<" : ">",
        value: phrase.value(comparative[4] ?? ""),
      });
      continue;
    }
    if (
      takeState(phrase, selection) ||
      takeBetween(phrase, selection) ||
      takeComparison(phrase, selection) ||
      takePart(phrase, selection)
    )
      continue;
    break;
  }
  takeInPlace(phrase, selection);
}

/** `are pending`, `that are in stock`, `marked as paid`. */
function takeState(phrase: Phrase, selection: RowSelection): boolean {
  const match = phrase.take(
    /\b(?:(?:that|which|who)\s+)?(?:are|is|were|marked(?:\s+as)?)\s+(?:currently\s+|still\s+)?(?!there\b|in\b|from\b|not\b|the\b|a\b|an\b|above\b|below\b|over\b|under\b|at\b|between\b)(\p{Ll}+)\s*\??\s*(?:$|\uE002|,)/u,
  );
  if (match?.[1] === undefined) return false;
  selection.filters.push({ comparison: "matches", value: match[1] });
  return true;
}

function takeBetween(phrase: Phrase, selection: RowSelection): boolean {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:where|with|whose|having|and|that have|who have|who are|that are)\\s+)?(?:the\\s+|an?\\s+)?(${FIELD})?\\s*(?:is\\s+|are\\s+)?\\b(?:between|aged)\\s+(${NUMBER})\\s+(?:and|to)\\s+(${NUMBER})`,
      "iu",
    ),
  );
  if (match === undefined) return false;
  const field = match[1] !== undefined && !NO_FIELD.test(match[1]) ? toField(match[1]) : "age";
  selection.filters.push(
    { field, comparison: ">=", value: phrase.value(match[2] ?? "") },
    { field, comparison: "<=", value: phrase.value(match[3] ?? "") },
  );
  return true;
}

function takeComparison(phrase: Phrase, selection: RowSelection): boolean {
  const lead =
    "(?:\\b(?:where|with|whose|having|and|that have|who have|which have|that has|who has|for which|if|when)\\s+)";
  for (const [signs, comparison] of SIGNS) {
    const needsLead = comparison === "===" || comparison === "!==";
    const match = phrase.take(
      new RegExp(
        `${needsLead ? lead : `${lead}?`}(?:the\\s+|their\\s+|its\\s+|an?\\s+)?(${FIELD})\\s*(?:${signs})\\s*(?:the\\s+|an?\\s+)?[$€£]?(${VALUE})(?:\\s+(?:years?(?:\\s+old)?|dollars?|euros?|degrees?))?`,
        "iu",
      ),
    );
    if (match?.[1] === undefined || match[2] === undefined) continue;
    if (NO_FIELD.test(match[1].trim())) continue;
    const value = phrase.value(match[2]);
    const isOrdered = comparison !== "===" && comparison !== "!==";
    if (isOrdered && typeof value === "string" && !/^\d{4}-\d{2}/u.test(value)) continue;
    selection.filters.push({ field: toField(match[1].trim()), comparison, value });
    return true;
  }
  const named = phrase.take(
    new RegExp(
      `\\b(?:with|in|of|having|for)\\s+(?:the\\s+)?(?=\\p{Ll})(${FIELD})\\s+(${QUOTED}|${NUMBER}|\\p{Lu}[\\p{L}\\p{N}_-]*)`,
      "u",
    ),
  );
  if (named?.[1] !== undefined && !NO_FIELD.test(named[1]) && named[2] !== undefined) {
    selection.filters.push({ field: toField(named[1]), comparison: "===", value: phrase.value(named[2]) });
    return true;
  }
  const before = phrase.take(
    new RegExp(
      `\\bin\\s+(?:the\\s+)?(${QUOTED}|[\\p{L}\\p{N}_-]+)\\s+(category|status|city|country|department|group|region|state|class|type)\\b`,
      "iu",
    ),
  );
  if (before?.[1] === undefined || before[2] === undefined) return false;
  selection.filters.push({ field: toField(before[2]), comparison: "===", value: phrase.value(before[1]) });
  return true;
}

function takePart(phrase: Phrase, selection: RowSelection): boolean {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:where|with|whose|and|that have)\\s+)(?:the\\s+|an?\\s+)?(${FIELD})\\s+(?:that\\s+)?(contains?|containing|includes?|including|starts? with|starting with|begins? with|ends? with|ending (?:with|in))\\s+(?:the\\s+(?:word|text|letter)\\s+)?(${VALUE})`,
      "iu",
    ),
  );
  if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) return false;
  const comparison = /^(?:start|begin)/iu.test(match[2])
    ? "starts"
    : /^end/iu.test(match[2])
      ? "ends"
      : "contains";
  selection.filters.push({ field: toField(match[1]), comparison, value: phrase.value(match[3]) });
  return true;
}

/** `in Berlin`, `from "New York"`: some column holds it. */
function takeInPlace(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `\\b(?:who live |living |located |based |that are |who are )?(?:in|from)\\s+(?:the\\s+)?(${QUOTED}|\\p{Lu}[\\p{L}-]*(?:\\s+\\p{Lu}[\\p{L}-]*)*)`,
      "u",
    ),
  );
  if (match?.[1] !== undefined)
    selection.filters.push({ comparison: "matches", value: phrase.value(match[1]) });
  const named = phrase.take(
    new RegExp(`\\b(?:named|called)\\s+(${QUOTED}|\\p{Lu}[\\p{L}-]*(?:\\s+\\p{Lu}[\\p{L}-]*)*)`, "u"),
  );
  if (named?.[1] !== undefined)
    selection.filters.push({ field: "name", comparison: "===", value: phrase.value(named[1]) });
}
