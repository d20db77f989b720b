import type { JsonValue } from "@cem/core";
import type { StepField } from "@cem/core/text";
import { lowerCall, readCall } from "../calls/plan-call.ts";
import { form, type Phrase, Phrase as PhraseOf } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { partOf, referTo, referToAll } from "../planning/references.ts";
import { cite, type Value } from "../planning/value.ts";
import { array, type Expression, literal, type ObjectEntry } from "../program/expression.ts";
import { fieldNumber } from "../rows/aggregate.ts";

const PAIR = form("{key:name}(?: field)?(?: (?::|=|is|to|of|as))? {value}");
const SUM_OF_FIELD = form(
  "(?:sum|total)(?: of)? all (?<field>[\\p{L}_]+)(?: in [\\p{L}_]+(?: array| list)?)?",
);

export interface Field {
  key: string;
  expression: Expression;
  /** The earlier result that it is set to. */
  value?: Value | undefined;
}

/** Reads `step: 1 and message: "x"`; `undefined` where a part is no field. */
export function readFields(phrase: Phrase, plan: Plan): Field[] | undefined {
  const fields: Field[] = [];
  for (const part of phrase.split(/ (?:, and|,|;|and) /gu)) {
    const found = part.match(PAIR);
    const value = found?.part("value");
    const field = value === undefined ? undefined : readField(found?.text("key") ?? "", value, plan);
    if (field === undefined) return undefined;
    fields.push(field);
  }
  return fields.length === 0 ? undefined : fields;
}

/** Parses the fields listed below a step. If a stated value was also calculated, the calculated one is used. */
export function readListed(fields: readonly StepField[], plan: Plan): Field[] {
  return fields.map(({ key, value }) => {
    const phrase = PhraseOf.read(value);
    const field = readField(key, phrase, plan) ?? { key, expression: literal(value) };
    const calculated = field.value === undefined ? calculatedAs(key, phrase.literal?.value, plan) : undefined;
    return calculated === undefined ? field : { key, expression: calculated.expression, value: calculated };
  });
}

function calculatedAs(key: string, stated: JsonValue | undefined, plan: Plan): Value | undefined {
  const value = referTo(key.toLowerCase(), plan);
  if (value === undefined || typeof stated !== "number" || value.constant === undefined) return undefined;
  if (value.constant === stated) return value;
  const hint = `${cite(key)} was calculated as ${value.constant}, not ${stated}. Leave one of them out.`;
  throw plan.unread(key, hint);
}

/** Parses the value of a field: a literal, an earlier result, or the sum of a list in the file. */
export function readField(key: string, phrase: Phrase, plan: Plan): Field | undefined {
  const written = phrase.literal;
  if (written !== undefined) return { key, expression: literal(written.value) };
  const field = phrase.match(SUM_OF_FIELD)?.text("field");
  const document = plan.document?.value;
  if (field !== undefined && document !== undefined)
    return { key, expression: fieldNumber("total", document, field) };
  const value = referTo(phrase.shape, plan);
  if (value !== undefined && value.document === undefined)
    return { key, expression: value.expression, value };
  const [token] = phrase.tokens;
  // A single word is a text: `set status to completed`.
  if (phrase.tokens.length !== 1 || token?.kind !== "word") return undefined;
  return { key, expression: literal(token.text) };
}

/** Converts fields to entries of an object; later ones replace earlier ones of the same name. */
export function entriesOf(fields: readonly Field[]): ObjectEntry[] {
  for (const { value } of fields) if (value !== undefined) value.consumed = true;
  const byKey = new Map(fields.map((field) => [field.key, field.expression]));
  return [...byKey].map(([key, value]) => ({ key, value }));
}

export interface Saved extends Pick<Value, "expression" | "schema"> {
  value?: Value | undefined;
  /** The value, if it is a literal in the task. */
  written?: JsonValue | undefined;
}

/** Resolves words to an earlier result, a quoted text or a tool call. */
export function readWhat(phrase: Phrase, plan: Plan): Saved | undefined {
  const written = phrase.literal;
  if (written !== undefined)
    return {
      expression: literal(written.value),
      schema: { type: typeof written.value },
      written: written.value,
    };
  const all = referToAll(phrase.shape, plan);
  if (all !== undefined)
    return { expression: array(all.map(({ expression }) => expression)), schema: { type: "array" } };
  const known = referTo(phrase.shape, plan) ?? refersWithNoun(phrase, plan);
  if (known !== undefined) return { ...known, value: known };
  const part = partOf([phrase.words.toLowerCase()], plan);
  if (part !== undefined) {
    part.value.consumed = true;
    const value = plan.declare(part.expression, { words: part.key, schema: part.schema });
    return { ...value, value };
  }
  const { filling } = readCall(phrase, plan);
  if (filling === undefined) return undefined;
  const value = lowerCall(filling, plan);
  return { ...value, value };
}

/** `the updated state`, `the result and metadata` */
function refersWithNoun(phrase: Phrase, plan: Plan): Value | undefined {
  const plain = phrase.shape
    .replace(/^(?:(?:updated|final|new|current|whole|all) )+/u, "")
    .replace(/ and metadata$/u, "");
  return plain === phrase.shape ? undefined : referTo(plain, plan);
}
