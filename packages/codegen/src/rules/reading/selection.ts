import { splitWords } from "@cem/text";
import { singular } from "../program/names.ts";
import { NUMBER, Phrase, QUOTED } from "./phrase.ts";
import { readFilters, readOwner } from "./row-filters.ts";
import { readLimit, readSort } from "./row-order.ts";
import { FIELD, type RowSelection, toField } from "./row-selection.ts";

/** Reads filters, order, limits and totals out of a text; what is left names the rows. */
export function readSelection(text: string, isTable: (noun: string) => boolean = () => false): RowSelection {
  const phrase = new Phrase(text);
  const selection: RowSelection = { filters: [], entity: [], adjectives: [], rest: "" };
  if (phrase.take(/\b(?:distinct|unique|different)\b/iu) !== undefined) selection.isDistinct = true;
  readIdentity(phrase, selection, isTable);
  readLimit(phrase, selection);
  readOwner(phrase, selection);
  readColumns(phrase, selection);
  readSort(phrase, selection);
  readGroups(phrase, selection);
  readFilters(phrase, selection, isTable);
  readAggregates(phrase, selection);
  readNouns(phrase, selection);
  return selection;
}

/** `user 5`, `the order with id 12`. */
function readIdentity(phrase: Phrase, selection: RowSelection, isTable: (noun: string) => boolean): void {
  const match = phrase.find(
    /(?<!\b(?:of|for|by|from|with)\s(?:the\s)?)\b(\p{Ll}+)(?:\s+(?:with|whose|having))?(?:\s+(?:the\s+)?(?:id|number|no\.?)(?:\s+is|\s*=)?)?\s+#?(\d{1,15})(?![\p{L}\d.-])/u,
  );
  const noun = match?.[1];
  if (match === undefined || noun === undefined || singular(noun) !== noun || !isTable(noun)) return;
  phrase.remove(match.index + noun.length, match[0].length - noun.length);
  selection.filters.push({ field: "id", comparison: "===", value: Number(match[2]) });
  selection.limit = { count: 1, fromEnd: false, isSingle: true };
}

/** `the names and emails of all users`. */
function readColumns(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    /^(\s*(?:\p{L}+\s+(?:me\s+)?)?)(?:only\s+|just\s+)?(?:the\s+|their\s+)?((?!number|count|sum|total|average|mean|median|max|min|list|contents?|rows|top|rest|statistics)[\p{Ll}_]+s?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\p{Ll}_]+)*)\s+of\s+(?:all\s+|every\s+)?(?:of\s+)?(?:the\s+|those\s+|our\s+)?(?=\p{L}|\s*\uE002)/u,
  );
  if (match?.[2] === undefined) return;
  selection.columns = match[2].split(/\s*,\s*(?:and\s+)?|\s+and\s+/u).map((word) => toField(singular(word)));
}

function readGroups(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:\\p{L}+ed|made|bought)\\s+)?\\b(?:grouped by|group(?:\\s+(?:them|it|the\\s+\\p{L}+))?\\s+by|per|for each|by each|in each|for every|broken down by|by)\\s+(?:the\\s+|their\\s+)?(${FIELD})`,
      "iu",
    ),
  );
  if (match?.[1] !== undefined) selection.groupBy = toField(singular(match[1]));
}

const AGGREGATES: readonly [RegExp, NonNullable<RowSelection["aggregate"]>["kind"]][] = [
  [
    /\b(?:calculate|compute|show|get|with|their|the)?\s*\b(?:statistics|stats|statistical summary|summary statistics)\b/iu,
    "statistics",
  ],
  [/\b(?:how many|the number (?:of|in)|number of|count(?:\s+of)?(?:\s+all)?(?:\s+the)?)\b/iu, "count"],
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
        `\\uE002\\s*(?:of\\s+)?(?:the\\s+|their\\s+|all\\s+)?(?!of\\b)(${FIELD})\\s*(?=\\s(?:of|over|for|per|across|among|in|from)\\b|\\s*\\uE002|\\s*$|[?.!])`,
        "iu",
      ),
    )?.[1];
    if (field !== undefined) selection.aggregate.field = toField(singular(field.trim()));
    return;
  }
}

const SKIPPED = new Set(
  "over across among within where were was did been being live lives our whole both query get fetch find show list display retrieve search select read give tell look database db table tables rows row records record entries entry data from in the a an all of for to me and with that which who are is there have has what by please only filter keep take sort calculate compute count them it those these results result items item on every each any some do does we my our their its out up then into existing available current using use sql via through exist exists return print many how list lists array information info details ones one as".split(
    " ",
  ),
);

function readNouns(phrase: Phrase, selection: RowSelection): void {
  const plain = phrase.rest.replaceAll(/['’]s\b/giu, "");
  const words = splitWords(plain).filter((word) => !SKIPPED.has(word));
  const tokens =
    plain.match(/[\p{L}_][\p{L}\p{N}_]*/gu)?.filter((word) => !SKIPPED.has(word.toLowerCase())) ?? [];
  const noun = tokens.findLast((word) => /s$|people|children|data/iu.test(word)) ?? tokens.at(-1);
  if (noun !== undefined) selection.entity.push(noun.toLowerCase());
  const at = noun === undefined ? 0 : tokens.lastIndexOf(noun);
  selection.adjectives.push(...tokens.slice(0, at).map((word) => word.toLowerCase()));
  const values =
    phrase.text.match(new RegExp(`${QUOTED}|(?<![\\p{L}\\d_])${NUMBER}(?![\\p{L}\\d_])`, "gu")) ?? [];
  const left = tokens.length === 0 ? words : tokens.slice(at + 1);
  selection.rest = [...left, ...values.map((value) => phrase.decode(value))].join(" ");
}
