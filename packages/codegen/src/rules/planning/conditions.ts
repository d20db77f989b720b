import { lookUp } from "../reading/look-up.ts";
import { binary, call, type Expression, literal, method, not } from "../program/expression.ts";
import { NUMBER, Phrase, QUOTED, readNumber } from "../reading/phrase.ts";
import { useHelper } from "../operations/helpers.ts";
import { type Plan, Unfilled } from "./plan.ts";
import { findProperty, findReference, PROPERTY_WORDS, type Reference } from "./references.ts";
import { readArithmetic } from "../reading/arithmetic.ts";
import { toExpression } from "./arithmetic-expression.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "./value.ts";

const LOW = /^(?:younger|cheaper|colder|cooler|lighter|shorter|slower|smaller|lower|fewer|less)$/iu;
const COMPARISONS: readonly [RegExp, string][] = [
  [
    /(?:>=|≥|is at least|at least|is greater than or equal to|greater than or equal to|no less than|is or above)/iu,
    ">=",
  ],
  [
    /(?:<=|≤|is at most|at most|is less than or equal to|less than or equal to|no more than|does not exceed|doesn't exceed|up to)/iu,
    "<=",
  ],
  [
    /(?:!==?|<>|is not equal to|does not equal|isn't|is not|are not)(?!\s+(?:above|over|greater|more|below|under|less|higher|lower))/iu,
    "!==",
  ],
  [
    /(?:is |are |was |gets |goes |rises |reaches )?(?:>|above|over|greater than|more than|higher than|bigger than|larger than|exceeds|exceeding|beyond)/iu,
    ">",
  ],
  [
    /(?:is |are |was |gets |goes |falls |drops )?(?:<|below|under|less than|lower than|fewer than|smaller than|beneath)/iu,
    "<",
  ],
  [/(?:===?|=|is equal to|equals|equal to|is exactly|is|are|was)/iu, "==="],
];

/** Reads `temperature is above 20` about earlier results. */
export function readTest(text: string, plan: Plan): Expression {
  const joined = /^(.+?)\s+(and|or)\s+(.+)$/iu.exec(text);
  if (joined?.[1] !== undefined && joined[3] !== undefined && !/\bbetween\b|\bor equal\b/iu.test(text)) {
    const operator = joined[2]?.toLowerCase() === "and" ? "&&" : "||";
    return binary(readSingle(joined[1], plan, text), operator, readSingle(joined[3], plan, text));
  }
  return readSingle(text, plan, text);
}

function readSingle(text: string, plan: Plan, whole: string): Expression {
  const plain = text
    .trim()
    .replace(/\b(it|that|there)['’]s\b/iu, "$1 is")
    .replace(/^(?:it|that) (?=.*(?:\bdegrees\b|°))/iu, "temperature ");
  const phrase = new Phrase(plain);
  const encoded = phrase.text
    .trim()
    .replace(/\s*(?:°\s*[CF]?|degrees?(?:\s+(?:celsius|fahrenheit))?|celsius|percent|%)\s*$/iu, "");
  const test =
    readComparative(encoded, phrase, plan) ??
    readComparison(encoded, phrase, plan) ??
    readParity(encoded, plan) ??
    readState(encoded, plan);
  if (test !== undefined) return test;
  throw new Unfilled({
    step: `if ${whole}`,
    reason: "missing-argument",
    argument: "condition",
    hint: `"${whole.slice(0, 80)}" compares nothing that an earlier step gives. Name a result or one of its properties, and what to compare it with.`,
  });
}

/** `it is warmer than 15`, `it's colder than in …`. */
function readComparative(text: string, phrase: Phrase, plan: Plan): Expression | undefined {
  const match = new RegExp(
    `\\b(\\p{L}+er|more|less)(?:\\s+(expensive|humid|old))?\\s+than\\s+(${NUMBER})$`,
    "iu",
  ).exec(text);
  if (match?.[1] === undefined || match[3] === undefined) return undefined;
  const meanings =
    lookUp(PROPERTY_WORDS, match[1].toLowerCase()) ?? lookUp(PROPERTY_WORDS, match[2]?.toLowerCase() ?? "");
  if (meanings === undefined) return undefined;
  const reference = meanings
    .map((meaning) => findProperty(meaning, plan, "number"))
    .find((one) => one !== undefined);
  if (reference === undefined) return undefined;
  return binary(reference.expression, LOW.test(match[1]) ? "<" : ">", literal(phrase.value(match[3])));
}

function readComparison(text: string, phrase: Phrase, plan: Plan): Expression | undefined {
  const between = new RegExp(
    `^(.+?)\\s+(?:is|are)\\s+between\\s+(${NUMBER})\\s+and\\s+(${NUMBER})$`,
    "iu",
  ).exec(text);
  if (between?.[1] !== undefined) {
    const reference = refer(between[1], plan, true);
    if (reference === undefined) return undefined;
    return binary(
      binary(reference.expression, ">=", literal(phrase.value(between[2] ?? ""))),
      "&&",
      binary(reference.expression, "<=", literal(phrase.value(between[3] ?? ""))),
    );
  }
  for (const [words, operator] of COMPARISONS) {
    const match = new RegExp(
      `^(.{0,200}?)\\s*(?<![\\p{L}])(?:${words.source})(?![\\p{L}])\\s*(?:the\\s+)?(${QUOTED}|[$€£]?${NUMBER}|.{1,200})$`,
      "iu",
    ).exec(text);
    if (match?.[2] === undefined) continue;
    const value = phrase.value(match[2].replace(/\s*(?:°\s*[CF]?|degrees?.*)$/iu, ""));
    const found = compare(match[1] ?? "", operator, value, plan);
    if (found !== undefined) return found;
  }
  return undefined;
}

function compare(
  words: string,
  operator: string,
  value: string | number | boolean | null,
  plan: Plan,
): Expression | undefined {
  const isOrder = operator !== "===" && operator !== "!==";
  const subject = refer(words === "" ? "it" : words, plan, typeof value === "number");
  if (subject === undefined) return isOrder ? undefined : matchAny(words, operator, value, plan);
  if (typeof value === "number")
    return isNumeric(subject.schema) || Object.keys(subject.schema).length === 0
      ? binary(subject.expression, operator, literal(value))
      : undefined;
  if (isOrder) {
    const other = refer(String(value), plan, true);
    return other === undefined ? undefined : binary(subject.expression, operator, other.expression);
  }
  if (typeof value === "boolean" || value === null)
    return binary(subject.expression, operator, literal(value));
  if (hasType(subject.schema, "object")) return matchAny(words, operator, value, plan);
  const same = call(useHelper("equals"), subject.expression, literal(value));
  return operator === "===" ? same : not(same);
}

/** `it is sunny`: some text of the result says so. */
function matchAny(
  words: string,
  operator: string,
  value: string | number | boolean | null,
  plan: Plan,
): Expression | undefined {
  if (typeof value !== "string" || !/^(?:it|the weather|that|this|)(?:'s)?$/iu.test(words.trim()))
    return undefined;
  const source = plan.values.findLast((one) => hasType(one.schema, "object"));
  const key =
    source &&
    propertiesOf(source.schema).find(
      ([name, schema]) =>
        hasType(schema, "string") && /condition|status|state|description|summary/iu.test(name),
    )?.[0];
  if (source === undefined || key === undefined) return undefined;
  const text = method({ kind: "member", of: source.expression, key }, "toLowerCase");
  const includes = method(
    text,
    "includes",
    literal(
      value
        .toLowerCase()
        .replace(/^(?:rain|snow|cloud|sunn|wind|fogg)(?:y|ing)$/u, (word) => word.replace(/(?:y|ing)$/u, "")),
    ),
  );
  return operator === "===" ? includes : not(includes);
}

function refer(words: string, plan: Plan, wantsNumber: boolean): Reference | undefined {
  const text = words
    .trim()
    .replace(/^(?:the|its)\s+/iu, "the ")
    .replace(/^the (?=it\b)/iu, "")
    .replace(/\s+(?:there|outside|value)$/iu, "");
  const bare = text.replace(/^the\s+/iu, "");
  const number = readNumber(bare);
  if (number !== undefined)
    return { value: EMPTY, expression: call("Number", literal(number)), schema: { type: "number" } };
  const arithmetic = /[-+*/^]|\b(?:plus|minus|times|divided)\b/iu.test(bare)
    ? readArithmetic(bare)
    : undefined;
  if (arithmetic !== undefined)
    return {
      value: plan.last ?? EMPTY,
      expression: toExpression(arithmetic, plan, bare),
      schema: { type: "number" },
    };
  const wanted = wantsNumber ? "number" : "any";
  return (
    findProperty(bare, plan, wanted) ?? findReference(text, plan, wanted) ?? findReference(bare, plan, wanted)
  );
}

/** Stands for "no earlier result" where a test is about numbers of the text alone. */
const EMPTY: Value = {
  name: "",
  expression: literal(null),
  schema: {},
  words: "",
  step: 0,
  consumed: true,
  isEffect: false,
  about: "",
};

function readParity(text: string, plan: Plan): Expression | undefined {
  const match = /^(.+?)\s+is\s+(?:an?\s+)?(even|odd|positive|negative|zero)(?:\s+number)?$/iu.exec(text);
  const reference = match?.[1] === undefined ? undefined : refer(match[1], plan, true);
  if (match?.[2] === undefined || reference === undefined) return undefined;
  switch (match[2].toLowerCase()) {
    case "even":
      return binary(binary(reference.expression, "%", literal(2)), "===", literal(0));
    case "odd":
      return binary(binary(reference.expression, "%", literal(2)), "!==", literal(0));
    case "positive":
      return binary(reference.expression, ">", literal(0));
    case "negative":
      return binary(reference.expression, "<", literal(0));
    default:
      return binary(reference.expression, "===", literal(0));
  }
}

/** `there are any results`, `the list is empty`. */
function readState(text: string, plan: Plan): Expression | undefined {
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  if (list === undefined) return undefined;
  const length: Expression = { kind: "member", of: list.expression, key: "length" };
  if (/\b(?:is|are) empty$|\bthere (?:are|is) (?:no|none)\b/iu.test(text))
    return binary(length, "===", literal(0));
  const more = /\b(?:there are|has|have)\s+(?:more than|over)\s+(\d+)/iu.exec(text)?.[1];
  if (more !== undefined) return binary(length, ">", literal(Number(more)));
  return /\b(?:there (?:are|is) (?:any|some|at least one)|is not empty|isn't empty)/iu.test(text)
    ? binary(length, ">", literal(0))
    : undefined;
}
