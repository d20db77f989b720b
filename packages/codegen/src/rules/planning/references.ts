import { isStopWord, PROPERTY_WORDS, splitStems } from "@cem/text";
import { call, type Expression, literal, member } from "../program/expression.ts";
import { useHelper } from "../program/helpers.ts";
import { onlyCalled } from "./called.ts";
import type { Plan } from "./plan.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "./value.ts";

/** What a word of the text refers to: an earlier result or a part of it. */
export interface Reference {
  value: Value;
  expression: Expression;
  schema: Value["schema"];
}

/** A reference as TypeScript. Whether a file that was read has a field shows when the program runs: that it has not is a mistake. */
export function checkedExpression({ value, expression }: Reference, isNumber: boolean): Expression {
  const { document } = value;
  if (document?.isLoaded !== true || expression.kind !== "member" || document.fields.has(expression.key))
    return expression;
  return call(useHelper(isNumber ? "numberIn" : "fieldOf"), expression.of, literal(expression.key));
}

const RESULT =
  /^(?:it|its value|this|that|them|those|these|this value|that value|(?:the |this |that |its |my |your |previous |last |final |latest )*(?:result|results|answer|outcome|value|output|number|calculation|response|data))$/iu;
const ORDINAL =
  /^(?:the )?(first|second|third|fourth|fifth|last|previous) (?:result|answer|value|number|one|calculation|step)$/iu;
const ORDINALS = ["first", "second", "third", "fourth", "fifth"];

/** The newest earlier result, or part of one, that words refer to. */
export function findReference(
  words: string,
  plan: Plan,
  wanted: "number" | "any" = "any",
): Reference | undefined {
  if (words.startsWith("\u0000")) {
    const exact = plan.values.find((value) => value.name === words.slice(1));
    return exact && toReference(exact, wanted);
  }
  const text = words
    .trim()
    .replace(/^(?:of|from)\s+/iu, "")
    .replace(/^all (?:the )?/iu, "the ");
  const ordinal = ORDINAL.exec(text)?.[1]?.toLowerCase();
  const results = plan.values.filter((value) => !value.isEffect && value.document === undefined);
  if (ordinal !== undefined) {
    const at = ORDINALS.indexOf(ordinal);
    const chosen = at >= 0 ? results[at] : results.at(-1);
    return chosen === undefined ? undefined : toReference(chosen, wanted);
  }
  const called = onlyCalled(text, plan);
  if (called !== undefined) return toReference(called, wanted);
  const field = findDocumentField(text, plan);
  if (RESULT.test(text)) {
    const isResultWord = /result|answer|outcome|value|number|calculation/iu.test(text);
    const afterDocument = results.filter((value) => value.step >= (plan.document?.value.step ?? -1));
    const isKnown = field !== undefined && plan.document?.fields.has(keyOfField(field)) === true;
    if (field !== undefined && (isKnown ? afterDocument.length === 0 : results.length === 0)) return field;
    const pool =
      wanted === "number"
        ? plan.values.filter((value) => toReference(value, "number") !== undefined)
        : results;
    const chosen = pool.at(-1) ?? (wanted === "number" && isResultWord ? undefined : plan.last);
    return chosen === undefined ? field : toReference(chosen, wanted);
  }
  return findByName(text, plan, wanted) ?? field ?? findProperty(text, plan, wanted);
}

const CALCULATED = /^(?:the )?(sum|total|average|mean|median|maximum|max|minimum|min)$/iu;
const CALLED: Readonly<Record<string, string>> = {
  sum: "total",
  mean: "average",
  maximum: "max",
  minimum: "min",
};

/** The newest number, where it was calculated over others and words call it by that: `the sum`. */
export function findCalculated(words: string, plan: Plan): Reference | undefined {
  const said = CALCULATED.exec(words.trim())?.[1]?.toLowerCase();
  const newest = plan.values.findLast((value) => isNumeric(value.schema) && value.document === undefined);
  if (said === undefined || newest === undefined || newest.words !== (CALLED[said] ?? said)) return undefined;
  return toReference(newest, "number");
}

function keyOfField({ expression }: Reference): string {
  return expression.kind === "member" ? expression.key : "";
}

function toReference(value: Value, wanted: "number" | "any"): Reference | undefined {
  const whole = { value, expression: value.expression, schema: value.schema };
  if (wanted === "any" || isNumeric(value.schema)) return whole;
  if (hasType(value.schema, "object")) {
    const numbers = propertiesOf(value.schema).filter(([, schema]) => isNumeric(schema));
    const named = numbers.find(([key]) => /^(?:result|value|total|sum|answer|output|count)$/iu.test(key));
    const asked = numbers.find(([key]) => key === value.asked);
    const chosen = asked ?? named ?? (numbers.length === 1 ? numbers[0] : undefined);
    return chosen && { value, expression: member(value.expression, chosen[0]), schema: chosen[1] };
  }
  const isUnknown = Object.keys(value.schema).length === 0 && value.document === undefined;
  return isUnknown ? whole : undefined;
}

/** A field of the JSON file that is held in memory. */
export function findDocumentField(words: string, plan: Plan): Reference | undefined {
  const { document } = plan;
  if (document === undefined) return undefined;
  const text = words
    .replace(/^(?:the|its|all|each|every)\s+/iu, "")
    .replace(/(?<!\s)\s+(?:field|array|list|value|property|key)$/iu, "")
    .trim();
  const known = [...document.fields.keys()].find((key) => sameWords(key, text));
  const key =
    known ??
    (document.isLoaded &&
    /^[A-Za-z_]\w*$/u.test(text) &&
    (text.length === 1 || !isStopWord(text.toLowerCase()))
      ? text
      : undefined);
  if (key === undefined) return undefined;
  return { value: document.value, expression: member(document.value.expression, key), schema: {} };
}

function findByName(text: string, plan: Plan, wanted: "number" | "any"): Reference | undefined {
  const stems = new Set(
    splitStems(text.replace(/^(?:the|this|that|these|those|its|their|both|all|each)\s+/iu, "")),
  );
  if (stems.size === 0) return undefined;
  const found = plan.values.findLast((value) => {
    const own = splitStems(value.words);
    return own.length > 0 && [...stems].every((stem) => own.includes(stem));
  });
  return found === undefined ? undefined : toReference(found, wanted);
}

/** A property of the newest result that has one of that name. */
export function findProperty(
  words: string,
  plan: Plan,
  wanted: "number" | "any" = "any",
): Reference | undefined {
  const { text, of } = splitOf(words.replace(/^(?:the|its|their|current|actual)\s+/giu, ""));
  for (const value of plan.values.toReversed()) {
    const key = isMeant(value, of) ? matchProperty(text, value.schema, wanted) : undefined;
    if (key !== undefined) {
      const schema = value.schema.properties?.[key] ?? {};
      return { value, expression: member(value.expression, key), schema };
    }
  }
  return undefined;
}

/** The property that words name, directly or by what they mean. */
export function matchProperty(
  words: string,
  schema: Value["schema"],
  wanted: "number" | "any" = "any",
): string | undefined {
  const keys = propertiesOf(schema).filter(
    ([, part]) => wanted === "any" || isNumeric(part) || Object.keys(part).length === 0,
  );
  const meanings = [words, ...meaningsOf(words)];
  for (const meaning of meanings) {
    const exact = keys.find(([key]) => sameWords(key, meaning));
    if (exact !== undefined) return exact[0];
  }
  const stems = splitStems(words);
  if (stems.length === 0) return undefined;
  return keys.find(([key]) => {
    const own = splitStems(key);
    return stems.every((stem) => own.includes(stem));
  })?.[0];
}

/** What a word may mean beside itself: `warmer` asks for the temperature. */
export function meaningsOf(word: string): readonly string[] {
  const key = word.toLowerCase();
  return Object.hasOwn(PROPERTY_WORDS, key) ? (PROPERTY_WORDS[key] ?? []) : [];
}

const OF = /(?<=\S)(?<!\s)\s+(?:in|of|for|at|from)\s+(?=\S)/iu;
const HERE = /(?<=\S)(?<!\s)\s+(?:there|outside|now|right now)$/iu;

/** `the price of apples now`: what is asked for, and of what. */
function splitOf(words: string): { text: string; of?: string | undefined } {
  const said = words.replace(HERE, "");
  const match = OF.exec(said);
  if (match === null) return { text: said };
  return { text: said.slice(0, match.index), of: said.slice(match.index + match[0].length) };
}

/** Whether words behind "of" or "in" mean a value: what it is called, or what it was asked about. */
function isMeant(value: Value, words: string | undefined): boolean {
  if (words === undefined || RESULT.test(words) || sameWords(words, value.words)) return true;
  return value.about.toLowerCase().includes(words.toLowerCase());
}

/** Whether two names are the same but for case, joints and endings. */
export function sameWords(a: string, b: string): boolean {
  const left = splitStems(a);
  const right = splitStems(b);
  return left.length > 0 && left.length === right.length && left.every((stem, at) => stem === right[at]);
}
