import { outline } from "@cem/text";
import { findReference } from "../planning/references.ts";
import { type Expression, literal, type ObjectEntry, object } from "../program/expression.ts";
import { readLooseValue } from "../reading/json.ts";
import type { StepContext } from "./operation.ts";
import { resolveWords } from "./state-fields.ts";

const AS_OBJECT =
  /^(?:return|give|output|show|present|report|format)?\s*(?:me\s+|back\s+)?(?:it|this|that|them|the (?:result|results|answer|value))?\s*(?:as|in the (?:form|format|shape)(?: of)?|like)\s*:?\s*(\{[\s\S]*\})$/iu;
const CALLED =
  /^(?:call|name|label)\s+(?:it|this|that|the (?:result|answer|value))\s+(?:as\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]{0,60})["'`]?$/iu;

/** `return it as {"answer": result}`, `call it total`: the form that the results get at the end. */
export function planShape({ step, plan }: StepContext): boolean {
  const called = CALLED.exec(step.text)?.[1];
  const { last } = plan;
  if (called !== undefined && last !== undefined) {
    last.consumed = true;
    plan.declare(object([{ key: called, value: last.expression }]), {
      words: called,
      schema: { type: "object", properties: { [called]: last.schema } },
    });
    return true;
  }
  const text = AS_OBJECT.exec(step.text)?.[1];
  const entries =
    text === undefined
      ? undefined
      : readEntries(text, (words) => {
          const found = findReference(words, plan);
          if (found === undefined) return resolveWords(words, plan);
          found.value.consumed = true;
          return found.expression;
        });
  if (entries === undefined) return false;
  plan.declare(object(entries), { words: "result", schema: { type: "object" } });
  return true;
}

/** Reads `{"answer": result, "unit": "m"}`: JSON in which bare words mean results. */
function readEntries(
  text: string,
  resolve: (words: string) => Expression | undefined,
): ObjectEntry[] | undefined {
  const body = text.slice(1, -1);
  const mask = outline(body);
  const parts: string[] = [];
  let start = 0;
  for (const match of mask.matchAll(/,/gu)) {
    parts.push(body.slice(start, match.index));
    start = match.index + 1;
  }
  parts.push(body.slice(start));
  const entries = parts.map((part): ObjectEntry | undefined => {
    const match = /^\s*["'`]?([\p{L}_][\p{L}\p{N}_ -]{0,60}?)["'`]?\s*:\s*([\s\S]+?)\s*$/u.exec(part);
    if (match?.[1] === undefined || match[2] === undefined) return undefined;
    const read = readLooseValue(match[2]);
    const isBare = typeof read === "string" && read === match[2];
    const value = isBare ? resolve(read) : literal(read);
    return value && { key: match[1], value };
  });
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}
