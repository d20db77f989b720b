import { COMPARATIVES, EXTREMES, HIGHER, PROPERTY_COLUMNS, SUPERLATIVES } from "@cem/text";
import { Pattern } from "../../language/pattern.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { hasType, type Value } from "../../planning/value.ts";
import {
  array,
  arrow,
  binary,
  conditional,
  type Expression,
  member,
  method,
  name,
} from "../../program/expression.ts";
import { print } from "./collection.ts";
import { numberKey } from "./columns.ts";
import { readVerb } from "./cursor.ts";
import { itemName } from "./lower-value.ts";

/** Longer texts are no question. */
const MAX_TOKENS = 50;
const THING = "(city|place|location|town|one|item|result)?";
const OF = "(of (them|two|both|those|these|all))?";
const CLASSES = {
  how: { ...COMPARATIVES, ...SUPERLATIVES },
  end: SUPERLATIVES,
  side: { ...EXTREMES, ...HIGHER },
};
const MOST = [
  new Pattern(
    `(which|what|who) ${THING} ${OF} (is|was|has|are)? (it|that)? {how:@how} ${THING} ${OF}`,
    CLASSES,
  ),
  new Pattern(`{how:@end} ${THING} ${OF}`, CLASSES),
  new Pattern(`(which|what|who) ${THING} ${OF} has {side:@side} {what}`, CLASSES),
];
const COMPARE = new Pattern(
  "compare (them|both|two|these|those|all)? (results|answers)? (by {what})? | compare their {what}",
);

/** `which is warmer`, `print the coldest`: of what earlier steps gave. `compare them` sets them side by side. */
export const readSuperlative: Production = ({ span }, plan) => {
  if (span.length > MAX_TOKENS) return undefined;
  const { verb, rest } = readVerb(span);
  const match = MOST.flatMap((one) => [one.match(span), one.match(rest)]).find((one) => one !== undefined);
  const compared = match === undefined ? COMPARE.match(span) : undefined;
  if (compared !== undefined) return readCompare(plan, compared.text("what"));
  if (match === undefined) return undefined;
  const [property = "", end = match.meaning("side")] = match.meaning("how").split(" ");
  const names = match.has("how") ? (PROPERTY_COLUMNS[property] ?? []) : [match.text("what")];
  const found = candidates(plan, names);
  const isTwo = /\b(?:both|two)\b/u.test(span.lower);
  if (
    found === undefined ||
    (isTwo && found.values.length !== 2 && !hasType(found.values[0]?.schema ?? {}, "array"))
  )
    return undefined;
  const words = match.has("how") ? wordsFor(property, end) : `${end}est ${match.text("what")}`;
  return {
    kind: "superlative",
    rank: RANK.plain + 0.75,
    lower() {
      const value = declareMost(plan, found.values, found.key, end === "high", words);
      if (verb === "print") print(plan, value);
    },
  };
};

/** The newest list whose entries have a number of one of these names, or several results that do. */
function candidates(
  plan: Plan,
  names: readonly string[],
): { values: readonly Value[]; key: string } | undefined {
  const keyIn = (schema: Value["schema"]): string | undefined => numberKey(names, schema);
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  const key = list === undefined ? undefined : keyIn(list.schema.items ?? {});
  if (list !== undefined && key !== undefined) return { values: [list], key };
  const values = plan.values.filter(
    (value) => hasType(value.schema, "object") && value.document === undefined && !value.isEffect,
  );
  const keys = new Set(values.map((value) => keyIn(value.schema)));
  const [only] = keys;
  return values.length > 1 && keys.size === 1 && only !== undefined ? { values, key: only } : undefined;
}

/** What the most of a property is called: `warmest`. */
export function wordsFor(property: string, side: string): string {
  return (
    Object.keys(SUPERLATIVES).find((word) => SUPERLATIVES[word] === `${property} ${side}`) ??
    `${side}est ${property}`
  );
}

/** Declares the entry of a list, or the one of several results, that has the most or the least of something. */
export function declareMost(
  plan: Plan,
  values: readonly Value[],
  key: string,
  isHigh: boolean,
  words: string,
): Value {
  const [first] = values;
  const isList = first !== undefined && values.length === 1 && hasType(first.schema, "array");
  const rows: Expression = isList ? first.expression : array(values.map((value) => value.expression));
  const other = itemName(isList ? first.words : "");
  const better = binary(member(name(other), key), isHigh ? ">" : "<", member(name("best"), key));
  const chosen = method(
    rows,
    "reduce",
    arrow(["best", other], conditional(better, name(other), name("best"))),
  );
  return plan.declare(chosen, { words, schema: (isList ? first.schema.items : first?.schema) ?? {} });
}

/** `compare them`: results stand side by side; a list is put in the order of what it is compared by. */
function readCompare(plan: Plan, what: string): ReturnType<Production> {
  const list = plan.values.findLast((value) => hasType(value.schema, "array"));
  const results = plan.values.filter((value) => !value.isEffect && !value.consumed);
  const key = what === "" ? undefined : numberKey([what], list?.schema.items ?? {});
  if (list === undefined ? results.length < 2 || what !== "" : what !== "" && key === undefined)
    return undefined;
  return {
    kind: "compare",
    rank: RANK.plain + 0.5,
    lower() {
      if (list === undefined || key === undefined) return;
      const order = binary(member(name("b"), key), "-", member(name("a"), key));
      list.consumed = true;
      plan.declare(method(list.expression, "toSorted", arrow(["a", "b"], order)), {
        words: `${list.words} by ${key}`,
        schema: list.schema,
      });
    },
  };
}
