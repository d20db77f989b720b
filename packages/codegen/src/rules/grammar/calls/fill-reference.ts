import type { JsonSchema } from "@cem/core";
import type { Plan } from "../../planning/plan.ts";
import { findReference, matchProperty, sameWords } from "../../planning/references.ts";
import { hasType, isNumeric, propertiesOf } from "../../planning/value.ts";
import { member } from "../../program/expression.ts";
import type { Parameter } from "./parameters.ts";
import { type Filling, setReference } from "./filling.ts";

/** `post it to …`, `that many`, `the result`: what the text points at. */
export function fillReference(filling: Filling, parameter: Parameter): void {
  const { phrase, plan } = filling;
  const isManyOf =
    parameter.role === "number" &&
    new RegExp(`\\bthat many ${parameter.words.join(" ")}`, "iu").test(phrase.text);
  if ((!parameter.isRequired && !isManyOf) || plan.values.length === 0) return;
  if (parameter.role === "number") {
    const match = phrase.find(
      /\b(?:that many|(?:the |that |this )(?:result|number|value|sum|product|difference|quotient|total|count|answer)|it)\b/iu,
    );
    const reference =
      match && findReference(/^that many$/iu.test(match[0]) ? "the number" : match[0], plan, "number");
    if (match !== undefined && reference !== undefined) {
      phrase.remove(match.index, match[0].length);
      setReference(filling, parameter, reference);
    }
    return;
  }
  if (!["message", "text", "list", "object"].includes(parameter.role)) return;
  const found = phrase.find(
    /(?<![\p{L}])(?:(?:the|this|that|these|those|both|all)\s+(?:\p{L}+\s+){0,2}\p{L}+|it|that|them|this|those|these|both|everything)(?![\p{L}])/iu,
  );
  const match = found && longestReference(found, plan);
  const reference = match && findReference(match[0], plan);
  const newest =
    match !== undefined && /^(?:it|that|them|this|those|these|both|everything)$/iu.test(match[0])
      ? plan.last
      : undefined;
  const chosen =
    reference ?? (newest && { value: newest, expression: newest.expression, schema: newest.schema });
  if (match === undefined || chosen === undefined) return;
  phrase.remove(match.index, match[0].length);
  setReference(filling, parameter, chosen);
}

/** `the result to …`: as many words as mean something. */
function longestReference(found: RegExpExecArray, plan: Plan): { 0: string; index: number } {
  const words = found[0].split(/\s+/u);
  for (let count = words.length; count > 0; count -= 1) {
    const text = words.slice(0, count).join(" ");
    if (findReference(text, plan) !== undefined) return { 0: text, index: found.index };
  }
  return found;
}

/** A property of an earlier result with the parameter's name and type. */
export function fillFromResults(filling: Filling, parameter: Parameter): void {
  if (!parameter.isRequired || parameter.role === "boolean") return;
  const wantsNumber = isNumeric(parameter.schema);
  for (const value of filling.plan.values.toReversed()) {
    if (wantsNumber && isNumeric(value.schema) && sameWords(value.words, parameter.name)) {
      return setReference(filling, parameter, { value, expression: value.expression, schema: value.schema });
    }
    const key = propertiesOf(value.schema).length > 0 ? exactProperty(parameter, value.schema) : undefined;
    const schema = key === undefined ? undefined : value.schema.properties?.[key];
    if (key !== undefined && schema !== undefined && sameType(schema, parameter.schema)) {
      return setReference(filling, parameter, { value, expression: member(value.expression, key), schema });
    }
  }
  return undefined;
}

function exactProperty(parameter: Parameter, schema: JsonSchema): string | undefined {
  const key = matchProperty(parameter.words.join(" "), schema);
  if (key !== undefined && sameWords(key, parameter.name)) return key;
  return ["email", "url", "path"].includes(parameter.role)
    ? propertiesOf(schema).find(([one]) => sameWords(one, parameter.role))?.[0]
    : undefined;
}

function sameType(a: JsonSchema, b: JsonSchema): boolean {
  return (
    ["string", "boolean", "array", "object"].some((type) => hasType(a, type) && hasType(b, type)) ||
    (isNumeric(a) && isNumeric(b))
  );
}
