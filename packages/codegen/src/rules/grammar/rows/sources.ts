import type { JsonSchema } from "@cem/core";
import { COLUMN_NOUNS, isStopWord, isVerb, PEOPLE, ROW_PRONOUNS } from "@cem/text";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import { sameWords } from "../../planning/references.ts";
import { hasType, propertiesOf, type Value } from "../../planning/value.ts";
import { call, type Expression, literal, member } from "../../program/expression.ts";
import { plural, singular } from "../../program/names.ts";
import type { Cursor } from "./cursor.ts";
import type { Noun, NounReader } from "./row-reader.ts";

/** Rows that a step can work on. */
export interface RowSource {
  words: string;
  item: JsonSchema;
  value: Value;
  noun: NounReader;
  /** They were grouped by a column just before, which "count them" counts by. */
  group?: string | undefined;
  /** A JSON file of which it is not known whether it holds rows or a record. */
  isFile?: boolean | undefined;
  /** Only where the text says "numbers" are they a list of numbers. */
  needsNoun?: boolean | undefined;
  /** The value whose list it is, with what the text calls it. Writes what opens it. */
  open(plan: Plan, noun: Noun | undefined): Value;
}

const MAX_SOURCES = 8;

/** The lists that earlier steps gave, the newest first: lists, the list in a JSON file, the rows of a CSV file. */
export function sourcesIn(plan: Plan): RowSource[] {
  const { group } = plan.values.at(-1) ?? {};
  if (group !== undefined) {
    return sourceOf(group.rows, plan).map((source) => ({ ...source, group: group.column }));
  }
  return plan.values
    .toReversed()
    .filter((value) => !value.isEffect)
    .flatMap((value) => sourceOf(value, plan))
    .slice(0, MAX_SOURCES);
}

function sourceOf(value: Value, plan: Plan): readonly RowSource[] {
  const { document, schema, words } = value;
  if (document !== undefined) {
    const isPlain =
      document.isLoaded && !document.isDirty && document.fields.size === 0 && value === plan.values.at(-1);
    return isPlain
      ? [
          plainNumbers(plan, value),
          { ...unknownRows(value, (noun) => openDocument(plan, value, noun)), isFile: true },
        ]
      : [];
  }
  if (hasType(schema, "array"))
    return [{ words, item: schema.items ?? {}, value, noun: nounOf(words, schema.items), open: () => value }];
  if (hasType(schema, "string") && isCsv(value, plan)) {
    const rows = call(useHelper("rowsOfCsv"), value.expression);
    return [unknownRows(value, (noun) => declareRows(plan, value, rows, noun?.word ?? "rows"))];
  }
  const lists = propertiesOf(schema).filter(([, part]) => hasType(part, "array"));
  const [list] = lists;
  if (list === undefined || lists.length > 1) return [];
  const [key, { items = {} }] = list;
  const open = (): Value => ({
    ...value,
    expression: member(value.expression, key),
    schema: list[1],
    words: key,
  });
  return [{ words: key, item: items, value, noun: nounOf(key, items), open }];
}

/** Text that was read from a file whose name ends in `.csv`. */
function isCsv(value: Value, plan: Plan): boolean {
  return (
    /\.csv\b/iu.test(value.about) ||
    (plan.lastPath?.endsWith(".csv") === true && value === plan.values.at(-1))
  );
}

function unknownRows(value: Value, open: (noun: Noun | undefined) => Value): RowSource {
  return { words: value.words, item: {}, value, noun: anyNoun, open: (_, noun) => open(noun) };
}

function openDocument(plan: Plan, value: Value, noun: Noun | undefined): Value {
  const word = noun === undefined || noun.isPronoun ? "items" : plural(noun.word.toLowerCase());
  return declareRows(plan, value, call(useHelper("rowsOf"), value.expression, literal(word)), word);
}

/** `the numbers above 3`, of a JSON file. */
function plainNumbers(plan: Plan, value: Value): RowSource {
  const schema = { type: "array", items: { type: "number" } };
  return {
    words: "numbers",
    item: schema.items,
    value,
    needsNoun: true,
    noun: (cursor) => (!cursor.is("numbers|values") ? undefined : toNoun("numbers", true, cursor)),
    open() {
      value.consumed = true;
      return plan.declare(call(useHelper("numbersOf"), value.expression), { words: "numbers", schema });
    },
  };
}

function declareRows(plan: Plan, value: Value, expression: Expression, words: string): Value {
  value.consumed = true;
  return plan.declare(expression, { words, schema: { type: "array", items: { type: "object" } } });
}

/** A pronoun, or the noun that rows are called by. */
function nounOf(words: string, item: JsonSchema = {}): NounReader {
  const own = words.split(" ").at(-1) ?? "";
  const isPlain = hasType(item, "number", "integer", "string");
  return (cursor) => {
    const pronoun = takePronoun(cursor);
    if (pronoun !== undefined) return pronoun;
    if (propertiesOf(item).length === 0 && isPlain && cursor.is("numbers|values|names"))
      return toNoun("values", true, cursor);
    const token = cursor.take((one) => one.kind === "word" && sameWords(one.lower, own));
    return token && toNoun(token.lower, false, cursor);
  };
}

const anyNoun: NounReader = (cursor) => {
  const pronoun = takePronoun(cursor);
  if (pronoun !== undefined) return pronoun;
  const token = cursor.take(
    (one) =>
      one.kind === "word" &&
      singular(one.lower) !== one.lower &&
      !COLUMN_NOUNS.has(one.lower) &&
      !isVerb(one.lower) &&
      !isStopWord(one.lower),
  );
  return token && toNoun(token.lower, false, cursor);
};

function takePronoun(cursor: Cursor): Noun | undefined {
  const isPronoun = cursor.attempt(() => {
    const found = cursor.phrase(ROW_PRONOUNS) ?? cursor.phrase(PEOPLE);
    const next = cursor.token?.lower;
    return found === undefined || next === "table" ? undefined : found;
  });
  const word = cursor.span.all[cursor.at - 1]?.lower ?? "";
  if (isPronoun === undefined) return undefined;
  cursor.attempt(() =>
    /^(?:those|these|all)$/u.test(word) ? cursor.one("rows|items|entries|results|records") : undefined,
  );
  return { ...toNoun(word, true, cursor), word: isPronoun === "people" ? "people" : word };
}

export function toNoun(word: string, isPronoun: boolean, cursor: Cursor): Noun {
  const isSingular =
    singular(word) === word && !/^(?:them|these|those|they|data|people|every\w+|any\w+)$/u.test(word);
  const isDefinite = cursor.span.all
    .slice(0, cursor.at)
    .some((token, at, all) => token.lower === "the" && all[at + 1]?.lower === word);
  return { word, isSingular, isPronoun, isDefinite };
}
