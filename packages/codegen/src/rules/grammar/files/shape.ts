import { readTokens } from "../../language/lexer.ts";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { type Meaning, RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { object } from "../../program/expression.ts";
import { readFieldValue } from "./fields.ts";
import { isBare } from "./words.ts";

const AS_OBJECT = new Pattern(
  "(return|give|output|show|present|report|format|print)? (back)? (it|this|that|them|result|results|answer|value)? ((as|like) | (in (form|format|shape) (of)?)) :? {shape:braces}",
);
const CALLED = new Pattern("(call|name|label) (it|this|that|result|answer|value) (as)? {key:name}");
const ENTRY = new Pattern("{key} : {value}");

/** `return it as {"answer": result}`, `call it total`: the form that the results get at the end. */
export const readShape: Production = (step, plan) => {
  if (!isBare(step)) return undefined;
  const { last } = plan;
  const called = CALLED.match(step.span)?.text("key");
  if (called !== undefined && last !== undefined) {
    return {
      kind: "shape",
      rank: RANK.plain,
      lower() {
        last.consumed = true;
        const schema = { type: "object", properties: { [called]: last.schema } };
        plan.declare(object([{ key: called, value: last.expression }]), { words: called, schema });
      },
    };
  }
  const braces = AS_OBJECT.match(step.span)?.span("shape");
  const entries = braces && readEntries(braces, plan);
  if (entries === undefined) return undefined;
  return {
    kind: "shape",
    rank: RANK.plain,
    lower() {
      const fields = entries.map(({ key, value }) => ({ key, value: value.lower() }));
      plan.declare(object(fields), { words: "result", schema: { type: "object" } });
    },
  };
};

/** Reads `{"answer": result, "unit": "m"}`: JSON in which words mean results. */
function readEntries(braces: Span, plan: Plan): { key: string; value: Meaning }[] | undefined {
  const inside = readTokens(braces.text.trim().slice(1, -1));
  const entries = inside
    .split(({ kind, lower }) => kind === "mark" && lower === ",")
    .map((part) => {
      const match = ENTRY.match(part);
      const value = match && readFieldValue(match.span("value"), plan, false);
      return value && match && { key: match.text("key"), value };
    });
  const read = entries.filter((entry) => entry !== undefined);
  const usesResult = read.some(({ value }) => value.constant === undefined || value.words !== "value");
  return read.length === entries.length && usesResult ? read : undefined;
}
