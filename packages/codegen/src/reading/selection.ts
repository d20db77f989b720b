import { lookUp } from "./look-up.ts";
import { splitWords } from "@cem/text";
import { PROPERTY_WORDS } from "../planning/references.ts";
import { singular } from "../program/names.ts";
import { NUMBER, Phrase, QUOTED } from "./phrase.ts";

export type Comparison = ">" | ">=" | "<" | "<=" | "===" | "!==";

/** One condition on a row. Without a field, any column may hold the value. */
export interface RowFilter {
  field?: string;
  /** Columns that mean the same, tried in order: `price` or `cost`. */
  comparison: Comparison | "contains" | "starts" | "ends" | "matches";
  value: string | number | boolean | null;
}

/** What a text asks of a list of rows. */
export interface RowSelection {
  filters: RowFilter[];
  sort?: { field: string; isDescending: boolean };
  /** At most so many; 1 with `isSingle` asks for the one row itself. */
  limit?: { count: number; fromEnd: boolean; isSingle: boolean; isTop?: boolean };
  groupBy?: string;
  aggregate?: { kind: "sum" | "average" | "max" | "min" | "count" | "median" | "statistics"; field?: string };
  columns?: string[];
  isDistinct?: boolean;
  /** Nouns that are left: what the rows are. */
  entity: string[];
  /** An adjective before the noun, for names: `active`. */
  adjectives: string[];
  /** Words that were not understood. */
  rest: string;
}

const FIELD = "[\\p{L}_][\\p{L}\\p{N}_]*(?:\\s+(?:id|name|date|at|count|price|total|amount))?";
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
const VALUE = `${QUOTED}|${NUMBER}|\\d{4}-\\d{2}-\\d{2}|[\\p{L}\\p{N}_][\\p{L}\\p{N}_.@-]*`;
const NO_FIELD =
  /^(?:items?|entries|rows?|records?|those|ones?|all|that|which|who|the|where|with|and|or|by|in|of|than|is|are|only)$/iu;

/** Reads filters, order, limits and totals out of a text; what is left names the rows. */
export function readSelection(text: string): RowSelection {
  const phrase = new Phrase(text);
  const selection: RowSelection = { filters: [], entity: [], adjectives: [], rest: "" };
  readLimit(phrase, selection);
  readOwner(phrase, selection);
  readColumns(phrase, selection);
  readSort(phrase, selection);
  readGroups(phrase, selection);
  readFilters(phrase, selection);
  readAggregates(phrase, selection);
  readNouns(phrase, selection);
  return selection;
}

/** `orders of user 3`. */
function readOwner(phrase: Phrase, selection: RowSelection): void {
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

/** `the names and emails of all users`. */
function readColumns(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    /^(\s*(?:\p{L}+\s+(?:me\s+)?)?)(?:only\s+|just\s+)?(?:the\s+|their\s+)?((?!number|count|sum|total|average|mean|median|max|min|list|contents?|rows|top|rest|statistics)[\p{Ll}_]+s?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\p{Ll}_]+)*)\s+of\s+(?:all\s+|every\s+)?(?:the\s+|those\s+)?(?=\p{L})/u,
  );
  if (match?.[2] === undefined) return;
  selection.columns = match[2].split(/\s*,\s*(?:and\s+)?|\s+and\s+/u).map((word) => toField(singular(word)));
}

function readSort(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:and|then)\\s+)?\\b(?:sort(?:ed)?|order(?:ed)?|rank(?:ed)?|arranged?)(?:\\s+(?:them|it|these|those|the\\s+\\p{L}+|\\p{L}+s))?\\s+by\\s+(?:the\\s+|their\\s+)?(${FIELD})(?:\\s*,?\\s*(?:in\\s+)?\\(?(asc|ascending|desc|descending)(?:ending)?(?:\\s+order)?\\)?|\\s*,?\\s*((?:highest|largest|biggest|newest|latest|most)\\s+first|(?:lowest|smallest|oldest|cheapest|earliest|least)\\s+first|from\\s+(?:high(?:est)? to low(?:est)?|low(?:est)? to high(?:est)?)))?`,
      "iu",
    ),
  );
  if (match?.[1] !== undefined) {
    const words = match[1].replace(/\s+(?:asc|desc)\w*$/iu, "");
    const hint = `${match[2] ?? ""} ${match[3] ?? ""}`;
    selection.sort = {
      field: toField(words),
      isDescending: /desc|highest first|largest|biggest|newest|latest|most|from high/iu.test(hint),
    };
    return;
  }
  const bare = phrase.take(/\bin\s+(ascending|descending)\s+order\b/iu)?.[1];
  if (bare !== undefined && selection.sort !== undefined) selection.sort.isDescending = /^desc/iu.test(bare);
}

const SUPERLATIVES: Readonly<Record<string, { field: string; isDescending: boolean }>> = {
  cheapest: { field: "price", isDescending: false },
  priciest: { field: "price", isDescending: true },
  costliest: { field: "price", isDescending: true },
  oldest: { field: "age", isDescending: true },
  youngest: { field: "age", isDescending: false },
  newest: { field: "created_at", isDescending: true },
  latest: { field: "created_at", isDescending: true },
  "most recent": { field: "created_at", isDescending: true },
  "most expensive": { field: "price", isDescending: true },
  "least expensive": { field: "price", isDescending: false },
  warmest: { field: "temperature", isDescending: true },
  hottest: { field: "temperature", isDescending: true },
  coldest: { field: "temperature", isDescending: false },
  tallest: { field: "height", isDescending: true },
  heaviest: { field: "weight", isDescending: true },
};

function readLimit(phrase: Phrase, selection: RowSelection): void {
  const words = Object.keys(SUPERLATIVES).join("|");
  const superlative = phrase.take(
    new RegExp(`\\b(?:the\\s+)?(?:(\\d{1,9})\\s+)?(${words})(?:\\s+(\\d{1,9}))?\\b(?!\\s+first)`, "iu"),
  );
  if (superlative?.[2] !== undefined) {
    const count = Number(superlative[1] ?? superlative[3] ?? 1);
    const isSingle =
      superlative[1] === undefined &&
      superlative[3] === undefined &&
      !new RegExp("^\\s*\\uE002?\\s*\\p{L}+s\\b", "u").test(phrase.text.slice(superlative.index));
    const order = lookUp(SUPERLATIVES, superlative[2].toLowerCase());
    if (order !== undefined) selection.sort = { ...order };
    selection.limit = { count, fromEnd: false, isSingle: isSingle && count === 1 };
    return;
  }
  const extreme = phrase.take(
    new RegExp(
      `\\bwith\\s+the\\s+(highest|largest|biggest|greatest|most|lowest|smallest|least|fewest)\\s+(${FIELD})`,
      "iu",
    ),
  );
  if (extreme?.[1] !== undefined && extreme[2] !== undefined) {
    selection.sort = {
      field: toField(extreme[2]),
      isDescending: !/^(?:low|small|least|few)/iu.test(extreme[1]),
    };
    selection.limit = { count: 1, fromEnd: false, isSingle: true };
  }
  const match = phrase.take(
    /(?:\b(?:take|keep|show|get|only|limit(?:ed)?(?:\s+(?:it|them))?(?:\s+to)?|return|pick|select|give me)\s+)*(?:only\s+)?(?:the\s+)?\b(top|first|last|bottom|at most|up to|limit(?:ed)? to|limit)\s+(\d{1,9})\b(?:\s+(?:rows?|results?|entries|items?|records?|ones?|of them|by\s+(?=\uE002)))?/iu,
  );
  if (match?.[1] !== undefined && selection.limit === undefined) {
    const isTop = /^(?:top|bottom)$/iu.test(match[1]);
    selection.limit = { count: Number(match[2]), fromEnd: /^last$/iu.test(match[1]), isSingle: false, isTop };
    const by = isTop
      ? phrase.take(new RegExp(`\\bby\\s+(?:the\\s+|their\\s+)?(${FIELD})`, "iu"))?.[1]
      : undefined;
    if (by !== undefined) selection.sort = { field: toField(by), isDescending: /^top$/iu.test(match[1]) };
  }
}

function readGroups(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `\\b(?:grouped by|group(?:\\s+(?:them|it|the\\s+\\p{L}+))?\\s+by|per|for each|by each|in each|for every|broken down by|by)\\s+(?:the\\s+|their\\s+)?(${FIELD})`,
      "iu",
    ),
  );
  if (match?.[1] !== undefined) selection.groupBy = toField(singular(match[1]));
}

function readFilters(phrase: Phrase, selection: RowSelection): void {
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
      `\\b(?:with|in|of|having|for)\\s+(?:the\\s+)?(${FIELD})\\s+(${QUOTED}|${NUMBER}|\\p{Lu}[\\p{L}\\p{N}_-]*)`,
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

const AGGREGATES: readonly [RegExp, NonNullable<RowSelection["aggregate"]>["kind"]][] = [
  [
    /\b(?:calculate|compute|show|get|with|their|the)?\s*\b(?:statistics|stats|statistical summary|summary statistics)\b/iu,
    "statistics",
  ],
  [/\b(?:how many|the number of|number of|count(?:\s+of)?(?:\s+all)?(?:\s+the)?)\b/iu, "count"],
  [/\b(?:what is |what's )?(?:the )?(?:average|mean|avg)\b/iu, "average"],
  [/\b(?:the )?median\b/iu, "median"],
  [/\b(?:the )?(?:sum|total)\b(?=\s+(?:of|\p{L}))/iu, "sum"],
  [/\b(?:the )?(?:maximum|max|highest|largest)\b/iu, "max"],
  [/\b(?:the )?(?:minimum|min|lowest|smallest)\b/iu, "min"],
];

function readAggregates(phrase: Phrase, selection: RowSelection): void {
  for (const [pattern, kind] of AGGREGATES) {
    const match = phrase.take(pattern);
    if (match === undefined) continue;
    selection.aggregate = { kind };
    if (kind === "count" || kind === "statistics") return;
    const field = phrase.take(
      new RegExp(
        `\\uE002\\s*(?:of\\s+)?(?:the\\s+|their\\s+|all\\s+)?(${FIELD})\\s*(?=\\s(?:of|for|per|across|among|in|from)\\b|\\s*\\uE002|\\s*$|[?.!])`,
        "iu",
      ),
    )?.[1];
    if (field !== undefined) selection.aggregate.field = toField(singular(field.trim()));
    return;
  }
}

const SKIPPED = new Set(
  "query get fetch find show list display retrieve search select read give tell look database db table tables rows row records record entries entry data from in the a an all of for to me and with that which who are is there have has what by please only filter keep take sort calculate compute count them it those these results result items item on every each any some do does we my our their its out up then into existing available current using use sql via through exist exists return print many how list lists array information info details ones one as".split(
    " ",
  ),
);

function readNouns(phrase: Phrase, selection: RowSelection): void {
  const words = splitWords(phrase.rest).filter((word) => !SKIPPED.has(word));
  const tokens =
    phrase.rest.match(/[\p{L}_][\p{L}\p{N}_]*/gu)?.filter((word) => !SKIPPED.has(word.toLowerCase())) ?? [];
  const noun = tokens.findLast((word) => /s$|people|children|data/iu.test(word)) ?? tokens.at(-1);
  if (noun !== undefined) selection.entity.push(noun.toLowerCase());
  const at = noun === undefined ? 0 : tokens.lastIndexOf(noun);
  selection.adjectives.push(...tokens.slice(0, at).map((word) => word.toLowerCase()));
  selection.rest = tokens.slice(at + 1).join(" ") || (tokens.length === 0 ? words.join(" ") : "");
}

/** A field as it is likely written in data: `created at` to `created_at`. */
export function toField(words: string): string {
  return words.trim().replaceAll(/\s+/gu, "_");
}
