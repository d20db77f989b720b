import {
  DIRECTIONS,
  isStopWord,
  isVerb,
  PROPERTY_COLUMNS,
  MEASURES,
  splitWords,
  stem,
  PEOPLE,
  ROW_PRONOUNS,
} from "@cem/text";
import type { JsonSchema } from "@cem/core";
import type { Token } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { meaningsOf, sameWords } from "../../planning/references.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../../planning/value.ts";
import { useHelper } from "../../program/helpers.ts";
import { call, type Expression, index, literal, member, name } from "../../program/expression.ts";
import { singular } from "../../program/names.ts";
import { type Cursor } from "./cursor.ts";
import { textOf } from "../../language/token.ts";

/** A column that words name. */
export interface Column {
  words: string;
  /** Its key, where the columns are known before the program runs. */
  key?: string | undefined;
  /** What it may be called, best first, to be looked up when the program runs. */
  meanings: readonly string[];
  /** The rows are plain values: the value itself. */
  isSelf?: boolean | undefined;
  /** The words name the rows as well: `order total`. */
  namesRows?: boolean | undefined;
}

const DATE = /(?:^|_)(?:at|on|date|time|day)$|date|timestamp/iu;
const DATE_ENDINGS = ["at", "date", "on"];
/** Words that may follow the first word of a column that is not known yet. */
const SECOND = /^(?:id|name|date|at|count|price|total|amount|code|number|size|type|rate)$/u;
const SELF: Column = { words: "value", meanings: [], isSelf: true };
const MAX_WORDS = 4;

/** The columns of a list of rows, as far as they are known. */
export class Columns {
  /** Empty where they show only when the program runs. */
  readonly keys: readonly string[];
  readonly #item: JsonSchema;
  /** What the rows are called: `order total` is the total of orders. */
  readonly #noun: string;

  constructor(item: JsonSchema, noun: string) {
    this.#item = item;
    this.#noun = singular(noun);
    this.keys = propertiesOf(item).map(([key]) => key);
  }

  /** Whether the rows are numbers or texts. */
  get isPlain(): boolean {
    return hasType(this.#item, "string", "number", "integer", "boolean") && this.keys.length === 0;
  }

  /** Whether the rows may be numbers. */
  get areNumbers(): boolean {
    return this.isPlain && isNumeric(this.#item);
  }

  schemaOf(column: Column): JsonSchema {
    if (column.isSelf === true) return this.#item;
    return column.key === undefined ? {} : (this.#item.properties?.[column.key] ?? {});
  }

  /** Takes the column that the next words name, as many of them as possible. */
  take(cursor: Cursor): Column | undefined {
    const words = cursor.run(isName, MAX_WORDS).map((token) => textOf(token));
    for (let length = words.length; length > 0; length -= 1) {
      const found = this.named(words.slice(0, length));
      if (found !== undefined && cursor.accept(length)) return found;
    }
    return undefined;
  }

  /** The column of a name. */
  named(words: readonly string[]): Column | undefined {
    const text = words.join(" ");
    const own =
      sameWords(words[0] ?? "", this.#noun) && words.length > 1 ? words.slice(1).join(" ") : undefined;
    if (this.isPlain) return undefined;
    if (this.keys.length === 0)
      return isUnknownName(words) ? { words: text, meanings: meanings(text) } : undefined;
    const whole = this.#find(text);
    const key = whole ?? (own === undefined ? undefined : this.#find(own));
    return key === undefined
      ? undefined
      : {
          words: whole === undefined ? (own ?? text) : text,
          key,
          meanings: [key],
          namesRows: whole === undefined,
        };
  }

  /** The first of several names that there is. */
  anyOf(names: readonly string[], words: string): Column | undefined {
    if (this.isPlain) return undefined;
    if (this.keys.length === 0) return { words, meanings: names };
    const key = names.find((one) => this.keys.includes(one));
    return key === undefined ? undefined : { words, key, meanings: [key] };
  }

  /** The column that holds a property: the price, the age. */
  property(property: string): Column | undefined {
    const found = this.anyOf(PROPERTY_COLUMNS[property] ?? [], property);
    if (found !== undefined || property !== "date") return found;
    const dates = this.keys.filter((key) => DATE.test(key));
    return dates.length === 1 ? this.anyOf(dates, "date") : undefined;
  }

  /** What such rows are measured by, where the text gives a number alone. */
  measure(): Column | undefined {
    return this.isPlain ? SELF : this.anyOf(MEASURES, "measure");
  }

  /** The date at which something happened to a row: `shipped` is `shipped_at`. */
  event(verb: string): Column | undefined {
    const names = [verb, ...DATE_ENDINGS.map((ending) => `${verb}_${ending}`)];
    return this.anyOf(names, verb);
  }

  #find(text: string): string | undefined {
    for (const meaning of [text, ...(ADJECTIVE.test(text) ? [] : meaningsOf(text))]) {
      const stems = stemsOf(meaning);
      const same = this.keys.find((key) => stemsOf(key).join(" ") === stems.join(" "));
      if (same !== undefined) return same;
    }
    const stems = stemsOf(text);
    const longer = this.keys.filter((key) => stems.every((one, at) => stemsOf(key)[at] === one));
    return longer.length === 1 ? longer[0] : undefined;
  }
}

/** Every word counts, small ones too. */
function stemsOf(text: string): readonly string[] {
  return splitWords(text).map(stem);
}

/** Words that say more than a column: `older` is a comparison. */
const ADJECTIVE =
  /^(?:warm|hot|cold|old|young|cheap|expensive|tall|heavy|long|fast|humid|windy|\p{L}+est|(?!weather)\p{L}+er)$/iu;

function isName(token: Token): boolean {
  return (
    token.kind === "word" ||
    (token.kind === "quote" && /^[\p{L}_][\p{L}\p{N}_ -]{0,60}$/u.test(textOf(token)))
  );
}

function isUnknownName(words: readonly string[]): boolean {
  const [first = "", second] = words.map((word) => word.toLowerCase());
  if (words.length > 2 || (second !== undefined && !SECOND.test(second))) return false;
  if (first in PEOPLE || first in ROW_PRONOUNS || ADJECTIVE.test(first) || first in DIRECTIONS) return false;
  return (
    first === "id" || (!isStopWord(first) && !(isVerb(first) && second === undefined && !NOUNS.test(first)))
  );
}

/** Verbs that are more often the name of a column. */
const NOUNS =
  /^(?:total|count|score|rate|average|name|email|title|label|note|rank|sum|state|order|message|sample|release)$/u;

function meanings(words: string): string[] {
  const key = words.trim().replaceAll(/\s+/gu, "_");
  return [...new Set([singular(key), key, ...meaningsOf(words)])];
}

/** The key of numbers that one of several names means, where it is known. */
export function numberKey(names: readonly string[], item: JsonSchema): string | undefined {
  const columns = new Columns(item, "");
  const found = names.map((one) => (columns.keys.length === 0 ? undefined : columns.named(one.split(" "))));
  return found.find((one) => one !== undefined && isNumeric(columns.schemaOf(one)))?.key;
}

/** The key of a column, as text or as a variable that finds it when the program runs. */
export function keyOf(plan: Plan, rows: Value, column: Column): Expression {
  if (column.key !== undefined) return literal(column.key);
  const [first = column.words] = column.meanings;
  rows.columns ??= new Map();
  const before = rows.columns.get(first);
  if (before !== undefined) return before;
  const variable = plan.names.take(`${first} column`, "column");
  const found = call(useHelper("findColumn"), rows.expression, ...column.meanings.map((one) => literal(one)));
  plan.add({ kind: "const", name: variable, value: found });
  rows.columns.set(first, name(variable));
  return name(variable);
}

/** `row.column`, or `row[column]` where the column is found when the program runs. */
export function cellOf(plan: Plan, rows: Value, row: Expression, column: Column): Expression {
  if (column.isSelf === true) return row;
  return column.key === undefined ? index(row, keyOf(plan, rows, column)) : member(row, column.key);
}
