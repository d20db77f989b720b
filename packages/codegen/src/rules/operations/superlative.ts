import { lookUp } from "../reading/look-up.ts";
import { findProperty, matchProperty, PROPERTY_WORDS } from "../planning/references.ts";
import { hasType, isNumeric, propertiesOf } from "../planning/value.ts";
import { array, arrow, binary, conditional, member, method, name } from "../program/expression.ts";
import { itemName } from "./rows.ts";
import type { StepContext } from "./operation.ts";

const WHICH =
  /^(?:tell(?:\s+me)?|say|show(?:\s+me)?|find(?:\s+out)?|determine|print|report|give(?:\s+me)?|return|decide|pick|compare)?\s*(?:them\s+and\s+\w+\s+)?(?:which|what|who|the)\s*(?:one\s+|city\s+|of (?:them|the two|those)\s+|\w+\s+)?(?:is|has|was|are)?\s*(?:the\s+)?(\w+)(?:\s+(\w+))?\s*(?:one|city|place|value)?\??$/iu;
const LOW = /^(?:cold|cool|cheap|young|light|short|slow|low|small|few|least|min)/iu;

/** `tell me which is warmer`: the entry of the newest list with the most or the least of something. */
export function planSuperlative({ step, plan }: StepContext): boolean {
  const text = step.text.replace(/\s+one\b/iu, "").trim();
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  const match = WHICH.exec(text);
  const word = match?.[1]?.toLowerCase() ?? "";
  const several =
    list === undefined
      ? plan.values.filter(
          (value) => hasType(value.schema, "object") && value.document === undefined && !value.isEffect,
        )
      : [];
  const item = list?.schema.items ?? several.at(-1)?.schema ?? {};
  const isBy =
    /^(?:highest|higher|lowest|lower|largest|larger|smallest|smaller|most|least|greatest|biggest|bigger|max|min)$/u.test(
      word,
    );
  const key =
    isBy && match?.[2] !== undefined
      ? matchProperty(match[2], item, "number")
      : lookUp(PROPERTY_WORDS, word) === undefined
        ? undefined
        : matchProperty(word, item, "number");
  if (match === null || key === undefined || (list === undefined && several.length < 2))
    return planCompare(step.text, plan);
  const rows = list?.expression ?? array(several.map((value) => value.expression));
  const operator = LOW.test(word) ? "<" : ">";
  const other = itemName(list?.words ?? "");
  const better = binary(member(name(other), key), operator, member(name("best"), key));
  const chosen = method(
    rows,
    "reduce",
    arrow(["best", other], conditional(better, name(other), name("best"))),
  );
  plan.declare(chosen, { words: word.replace(/e?r$/u, "est"), schema: item });
  return true;
}

/** `compare them`: the results stand side by side; two entries also give their differences. */
function planCompare(text: string, plan: StepContext["plan"]): boolean {
  if (!/^compare\b/iu.test(text)) return false;
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  const item = list?.schema.items ?? {};
  const wanted = propertiesOf(item).filter(([key, schema]) => isNumeric(schema) && key !== "");
  const key = wanted.find(([one]) => text.toLowerCase().includes(one.toLowerCase()))?.[0] ?? wanted[0]?.[0];
  if (list === undefined || key === undefined)
    return (
      plan.values.filter((value) => !value.isEffect).length > 1 || findProperty(text, plan) !== undefined
    );
  const [a, b] = ["a", "b"];
  const sorted = method(
    list.expression,
    "toSorted",
    arrow([a, b], binary(member(name(b), key), "-", member(name(a), key))),
  );
  list.consumed = true;
  plan.declare(sorted, { words: `${list.words} by ${key}`, schema: list.schema });
  return true;
}
