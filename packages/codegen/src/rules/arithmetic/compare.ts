import { COMPARATORS, EQUALITIES } from "../../vocabulary.ts";
import { form, type Match, type Phrase, meaningOf, oneOf } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { asNumber, partOf } from "../planning/references.ts";
import { binary, type Expression } from "../program/expression.ts";
import { readOne } from "./calculate.ts";
import { type Calculation, lower } from "./expression.ts";

const IS = "(?:is|are|was|were|'s|be|has|of)";
const NUMBERS = form(
  `{left} (?:${IS} )?(?<comparator>${oneOf(COMPARATORS)}|${oneOf(EQUALITIES)}) {right}(?<degrees> degrees?)?`,
);

/** Reads what a condition compares; `undefined` where it is none. */
export function readComparison(phrase: Phrase, plan: Plan): Expression | undefined {
  const found = phrase.match(NUMBERS);
  if (found === undefined) return undefined;
  const comparator = found.lower("comparator");
  const operator = meaningOf(comparator, COMPARATORS) ?? meaningOf(comparator, EQUALITIES);
  const left = readLeft(found, plan);
  const right = readOne(found.part("right"), plan);
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return binary(lower(left), operator, lower(right));
}

/** `it` is a temperature where it is above so many degrees. */
function readLeft(found: Match, plan: Plan): Calculation | undefined {
  const left = found.part("left");
  const isWarmth = found.lower("degrees") !== "" && /^(?:it|that|this)$/u.test(left?.shape ?? "");
  const part = isWarmth ? partOf(["temperature", "temp"], plan) : undefined;
  if (part === undefined) return readOne(left, plan);
  return { kind: "result", expression: asNumber(part), value: part.value, field: part.key };
}
