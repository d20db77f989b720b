import type { JsonValue } from "@cem/core";
import { isStopWord, splitWords, stem } from "@cem/core/text";
import type { Token } from "../language/lexer.ts";
import { hasType } from "../planning/value.ts";
import type { Filling } from "./filling.ts";
import { enumOf, type Parameter } from "./parameters.ts";

const CONNECTOR = /^(?:=|:|is|of|to|as|named|called|the|a|an|equals?)$/u;
const NAMING = /^(?:=|:|named|called)$/u;
const JOINT = /^(?:,|and|&)$/u;
/** Generic words for the owner of a name. */
const THING = /^(?:person|people|someone|somebody|user|friend|one|thing|item)$/u;
/** A word that can only be a value: it contains a capital, a digit or a symbol. */
const DISTINCT = /^\p{Lu}|[\d_.-]/u;

/** `name value` pairs: `subject 'Hi'`, `max_count: 3`, `branch named topic`, `3 days`. */
export function fillByName(filling: Filling): void {
  const all = filling.open.toSorted((a, b) => b.words.length - a.words.length);
  for (const parameter of all) {
    const names = [parameter.words, [parameter.name.toLowerCase()]];
    if (!names.some((words) => takePair(filling, parameter, words))) takeReversed(filling, parameter);
  }
  // A part of a longer name suffices if no other parameter contains it: `branch` for `branch_name`.
  const taken = all.flatMap(({ words }) => [...new Set(words)]);
  for (const parameter of filling.open.filter(({ words }) => words.length > 1)) {
    const own = parameter.words.filter((word) => taken.filter((one) => one === word).length === 1);
    own.some((word) => takePair(filling, parameter, [word]));
  }
  takeNamed(filling);
}

function takePair(filling: Filling, parameter: Parameter, words: readonly string[]): boolean {
  const found = filling.findWords(words);
  if (found === undefined) return false;
  let at = found.to;
  while (filling.isFree(at) && CONNECTOR.test(filling.lower(at)) && at < found.to + 3) at += 1;
  const isNaming = filling.tokens.slice(found.to, at).some(({ lower }) => NAMING.test(lower));
  const [values, to] = valuesFrom(filling, parameter, at, isNaming);
  if (!filling.setAll(parameter, values)) return false;
  filling.take(found.from, to);
  return true;
}

/** Consecutive values, separated only by commas and "and", and their end. */
function valuesFrom(filling: Filling, parameter: Parameter, from: number, isNaming: boolean) {
  const values: JsonValue[] = [];
  const names = parameter.role === "enum" ? [] : filling.names();
  let end = from;
  for (let at = from; filling.isFree(at); at = end) {
    while (values.length > 0 && filling.isFree(at) && JOINT.test(filling.lower(at))) at += 1;
    const token = filling.isFree(at) ? filling.tokens[at] : undefined;
    if (
      token === undefined ||
      (values.length > 0 && (at === end || token.kind !== filling.tokens[from]?.kind))
    )
      break;
    const value = valueFor(parameter, token, isNaming);
    if (value === undefined) break;
    const name = names.find((one) => one.from === at);
    values.push(name?.text ?? value);
    end = name?.to ?? at + 1;
  }
  return [values, end] as const;
}

/** `3 days` for `days` */
function takeReversed(filling: Filling, parameter: Parameter): void {
  const [word = "", other] = parameter.words;
  if (parameter.role !== "number" || other !== undefined) return;
  const [at = -1] = filling.places(
    ({ kind, lower }, place) => kind === "word" && stem(lower) === stem(word) && filling.isFree(place - 1),
  );
  const value = filling.tokens[at - 1]?.value;
  if (typeof value !== "number" || !fits(parameter, value)) return;
  filling.set(parameter, value);
  filling.take(/^(?:next|coming)$/u.test(filling.lower(at - 2)) ? at - 2 : at - 1, at + 1);
}

/** `a branch named topic`, `the person named Ada`: the only name in a step. */
function takeNamed(filling: Filling): void {
  const [at] = filling.places(
    ({ kind, lower }) => kind === "word" && /^(?:named|called|titled)$/u.test(lower),
  );
  if (at === undefined) return;
  const texts = filling.open.filter(takesText);
  const named = texts.filter(
    ({ role, words }) => role === "name" || words.includes("name") || words.includes("title"),
  );
  const required = texts.filter(({ isRequired }) => isRequired);
  const parameter = named.length === 1 ? named[0] : required.length === 1 ? required[0] : undefined;
  if (parameter === undefined) return;
  const [values, to] = valuesFrom(filling, parameter, at + 1, true);
  if (filling.setAll(parameter, values)) filling.take(THING.test(filling.lower(at - 1)) ? at - 1 : at, to);
}

/** The argument from a token; `undefined` if the parameter does not accept it. */
export function valueFor(parameter: Parameter, token: Token, isNaming = false): JsonValue | undefined {
  const { kind, lower, text, value } = token;
  const { schema, role } = parameter;
  if (role === "enum") return enumValue(parameter, token);
  if (role === "boolean")
    return /^(?:true|yes|on)$/u.test(lower) ? true : /^(?:false|no|off)$/u.test(lower) ? false : undefined;
  if (kind === "number" && typeof value === "number" && fits(parameter, value)) return value;
  if (kind === "json") return hasType(schema, Array.isArray(value) ? "array" : "object") ? value : undefined;
  if (kind === "braces" || kind === "mark" || kind === "sign" || !takesText(parameter)) return undefined;
  if (kind === "quote") return value;
  if (kind === "word") return !isStopWord(lower) && (isNaming || DISTINCT.test(text)) ? text : undefined;
  return text;
}

export function takesText({ schema, role }: Parameter): boolean {
  if (role === "boolean" || role === "number" || role === "object" || role === "enum") return false;
  const isUntyped = schema.type === undefined && schema.anyOf === undefined;
  return (
    isUntyped ||
    hasType(schema, "string") ||
    (hasType(schema, "array") && hasType(schema.items ?? {}, "string"))
  );
}

export function fits({ schema }: Parameter, value: number): boolean {
  return hasType(schema, "number") || (hasType(schema, "integer") && Number.isInteger(value));
}

export function enumValue({ schema }: Parameter, { kind, text, value }: Token): string | number | undefined {
  const said = splitWords(typeof value === "string" ? value : text).join(" ");
  const isSame = (one: string | number): boolean => {
    const plain = splitWords(String(one)).join(" ");
    return (
      plain === said ||
      (kind === "word" && plain.length > 3 && !plain.includes(" ") && stem(plain) === stem(said))
    );
  };
  return said === "" ? undefined : enumOf(schema).find(isSame);
}
