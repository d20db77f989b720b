import type { ToolDefinition } from "@cem/core";
import type { Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { referTo } from "../planning/references.ts";
import { hasType, isNumeric, type Value } from "../planning/value.ts";
import { call, member } from "../program/expression.ts";
import { useHelper } from "../program/helpers.ts";
import { fillByKind } from "./fill-kinds.ts";
import { fillByName, takesText } from "./fill-named.ts";
import { fillTexts } from "./fill-texts.ts";
import { Filling } from "./filling.ts";
import type { Parameter } from "./parameters.ts";

const REFERENCES =
  "first result,second result,last result,result,results,it,them,that,this,sum,product,total,average";
/** Parameters that take any text, not one in a language of its own. */
const TEXT = /\b(?:text|message|contents?|body|comment|note|input|string|data|markdown|html|title|value)\b/u;

/** Fills a tool's parameters from a step: named values first, then values by their kind, then texts and earlier results. */
export function fillArguments(tool: ToolDefinition, phrase: Phrase, plan: Plan): Filling {
  const filling = new Filling(tool, phrase, plan);
  fillByName(filling);
  fillByKind(filling);
  fillTexts(filling);
  fillReference(filling);
  return filling;
}

/** Earlier results that a step speaks of, for the required parameter that is left: `double the result`, `post it`. */
function fillReference(filling: Filling): void {
  const [parameter, other] = filling.missing;
  if (parameter === undefined || other !== undefined) return;
  for (const words of REFERENCES.split(",")) {
    const found = filling.findWords(words.split(" "));
    const value = found === undefined ? undefined : referTo(words, filling.plan);
    if (found === undefined || value === undefined || !setReference(filling, parameter, value)) continue;
    filling.take(found.from, found.to);
    return;
  }
}

function setReference(filling: Filling, parameter: Parameter, value: Value): boolean {
  const { expression, schema } = value;
  const key = parameter.role === "email" ? "email" : parameter.name;
  const isText = hasType(schema, "string") && !hasType(schema, "object", "array");
  if (schema.properties?.[key] !== undefined) {
    filling.args.set(parameter.name, member(expression, key));
  } else if (parameter.role === "number") {
    filling.args.set(parameter.name, isNumeric(schema) ? expression : useHelper("numberOf", expression));
  } else if (takesText(parameter) && TEXT.test(parameter.words.join(" "))) {
    const converted = isNumeric(schema) ? call("String", expression) : useHelper("toText", expression);
    filling.args.set(parameter.name, isText ? expression : converted);
  } else return false;
  filling.consumed.push(value);
  return true;
}
