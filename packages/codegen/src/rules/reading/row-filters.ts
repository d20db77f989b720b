import { lookUp } from "./look-up.ts";
import { PROPERTY_WORDS } from "../planning/references.ts";
import { singular } from "../program/names.ts";
import type { Phrase } from "./phrase.ts";
import { NUMBER, QUOTED } from "./phrase.ts";
import { type Comparison, FIELD, type RowFilter, type RowSelection, toField } from "./row-selection.ts";

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

export function readFilters(
  phrase: Phrase,
  selection: RowSelection,
  isTable: (noun: string) => boolean = () => false,
): void {
  takeAlternatives(phrase, selection);
  takeStock(phrase, selection);
  takeWhen(phrase, selection);
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
      takeComparison(phrase, selection, isTable) ||
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

/** `out of stock`, `in stock`: none of it, some of it. */
function takeStock(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(/(?:\b(?:that|which|are|is|currently)\s+)*\b(out of|in)\s+(stock|inventory)\b/iu);
  if (match?.[1] === undefined || match[2] === undefined) return;
  const comparison = match[1].toLowerCase() === "in" ? ">" : "===";
  selection.filters.push({ field: match[2].toLowerCase(), comparison, value: 0 });
}

/** `city = 'A' or city = 'B'`. */
function takeAlternatives(phrase: Phrase, selection: RowSelection): void {
  const one = `(${FIELD})\\s*(?:===?|=|is|are|equals)\\s*(${VALUE})`;
  const match = phrase.take(
    new RegExp(
      `\\b(?:where|with|whose|having)\\s+(?:the\\s+|their\\s+)?${one}((?:\\s+or\\s+(?:${one}|${VALUE}))+)`,
      "iu",
    ),
  );
  if (match?.[1] === undefined || match[3] === undefined) return;
  const field = toField(match[1]);
  const first: RowFilter = { field, comparison: "===", value: phrase.value(match[2] ?? "") };
  const others = match[3]
    .trim()
    .replace(/^or\s+/iu, "")
    .split(/\s+or\s+/iu);
  first.or = others.map((part): RowFilter => {
    const whole = new RegExp(`^${one}$`, "iu").exec(part);
    return {
      field: whole?.[1] === undefined ? field : toField(whole[1]),
      comparison: "===",
      value: phrase.value(whole?.[2] ?? part),
    };
  });
  selection.filters.push(first);
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const DAY = `(\\d{4}(?:-\\d{2}(?:-\\d{2})?)?|(?:${MONTHS.join("|")})\\s+\\d{4})(?![\\d-])`;

/** `who joined in 2023`, `placed after 2024-06-01`, `created since March 2024`. */
function takeWhen(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:who|that|which|were|was|have|has)\\s+)*\\b(\\p{L}+ed(?:\\s+up)?|made|bought|sent|from|dated)\\s+(in|during|on|after|since|before|until|from)?\\s*(?:the\\s+)?(?:year\\s+)?${DAY}`,
      "iu",
    ),
  );
  if (match?.[1] === undefined || match[3] === undefined) return;
  const [month = "", year = ""] = match[3].toLowerCase().split(/\s+/u);
  const at = MONTHS.indexOf(month);
  const value = at < 0 ? match[3] : `${year}-${String(at + 1).padStart(2, "0")}`;
  const how = match[2]?.toLowerCase() ?? "in";
  const comparison = { after: ">", since: ">=", from: ">=", before: "<", until: "<=" }[how] ?? "starts";
  selection.filters.push({
    field: toField(match[1].toLowerCase()),
    comparison: comparison as RowFilter["comparison"],
    value: comparison === ">" || comparison === "<=" ? lastDayOf(value) : value,
    isDate: true,
  });
}

/** What comes after a year or a month comes after its last day. */
function lastDayOf(date: string): string {
  if (date.length === 4) return `${date}-12-31`;
  return date.length === 7 ? `${date}-31` : date;
}

function takeComparison(
  phrase: Phrase,
  selection: RowSelection,
  isTable: (noun: string) => boolean,
): boolean {
  const lead =
    "(?:\\b(?:where|with|whose|having|and|that have|who have|which have|that has|who has|for which|if|when)\\s+)";
  for (const [signs, comparison] of SIGNS) {
    const needsLead = comparison === "===" || comparison === "!==";
    const match = phrase.find(
      new RegExp(
        `${needsLead ? lead : `${lead}?`}(?:the\\s+|their\\s+|its\\s+|an?\\s+)?(${FIELD})\\s*(?:${signs})\\s*(?:the\\s+|an?\\s+)?[$€£]?(${VALUE})(?:\\s+(?:years?(?:\\s+old)?|dollars?|euros?|degrees?))?`,
        "iu",
      ),
    );
    if (match?.[1] === undefined || match[2] === undefined) continue;
    const value = phrase.value(match[2]);
    const isOrdered = comparison !== "===" && comparison !== "!==";
    if (isOrdered && typeof value === "string" && !/^\d{4}-\d{2}/u.test(value)) continue;
    const noun = match[1].trim();
    if (
      isOrdered &&
      (isTable(noun) ||
        /^(?:those|ones?|items?|entries|rows?|records?|which|that|all|are|is|only|every(?:one|body|thing)|any(?:one|body)|people)$/iu.test(
          noun,
        ))
    ) {
      if (isTable(noun)) selection.entity.push(noun.toLowerCase());
      phrase.remove(match.index, match[0].length);
      const target = typeof value === "string" ? { isDate: true, field: "date" } : { isMeasure: true };
      selection.filters.push({ comparison, value, ...target });
      return true;
    }
    if (NO_FIELD.test(noun)) continue;
    phrase.remove(match.index, match[0].length);
    selection.filters.push({
      field: toField(noun),
      comparison,
      value,
      isDate: (isOrdered && typeof value === "string") || undefined,
    });
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

/** `in Berlin`, `from "New York" or Rome`, `except those from London`: some column holds it. */
function takeInPlace(phrase: Phrase, selection: RowSelection): void {
  const place = `(?:${QUOTED}|\\p{Lu}[\\p{L}-]*(?:\\s+\\p{Lu}[\\p{L}-]*)*)`;
  const match = phrase.take(
    new RegExp(
      `(\\b(?:except|excluding|but not|other than|apart from|not|without)\\s+(?:for\\s+)?(?:(?:those|the ones|\\p{Ll}+s|people|any(?:one|body)?)\\s+)?)?\\b(?:who (?:live|are|come) |that are |which are |living |located |based )*(?:in|from)\\s+(?:the\\s+)?(${place}(?:(?:\\s*,\\s*(?:or\\s+|and\\s+)?|\\s+or\\s+|\\s+and\\s+)(?:in\\s+|from\\s+)?${place})*)`,
      "u",
    ),
  );
  if (match?.[2] !== undefined) {
    const [first, ...others] = match[2]
      .split(/\s*,\s*(?:or\s+|and\s+)?|\s+(?:or|and)\s+/u)
      .map((part): RowFilter => ({
        comparison: "matches",
        value: phrase.value(part.replace(/^(?:in|from)\s+/u, "")),
        isPlace: true,
      }));
    if (first !== undefined)
      selection.filters.push({
        ...first,
        or: others.length > 0 ? others : undefined,
        isNegated: match[1] !== undefined || undefined,
      });
  }
  const named = phrase.take(
    new RegExp(`\\b(?:named|called)\\s+(${QUOTED}|\\p{Lu}[\\p{L}-]*(?:\\s+\\p{Lu}[\\p{L}-]*)*)`, "u"),
  );
  if (named?.[1] !== undefined)
    selection.filters.push({ field: "name", comparison: "===", value: phrase.value(named[1]) });
}
