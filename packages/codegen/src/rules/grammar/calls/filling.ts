import type { JsonValue, ToolDefinition } from "@cem/core";
import { DEMANDING_WORDS, isStopWord, splitWords, type TaskStep } from "@cem/text";
import type { Plan } from "../../planning/plan.ts";
import type { Reference } from "../../planning/references.ts";
import { hasType, type Value } from "../../planning/value.ts";
import { array, type Expression, literal } from "../../program/expression.ts";
import type { Phrase } from "./phrase.ts";
import { asText } from "../../planning/convert.ts";
import type { Parameter } from "./parameters.ts";
import type { takeByRole } from "./take-by-role.ts";

/** What a step gives a tool. */
export interface FilledArguments {
  args: Map<string, Expression>;
  /** The tool is called once for each of these. */
  each?: { parameter: string; values: (string | number)[] } | undefined;
  /** Required parameters that nothing fills. */
  missing: Parameter[];
  /** A value that the tool does not take. */
  wrong?: { parameter: Parameter; value: string } | undefined;
  /** Earlier results that went in. */
  consumed: Value[];
  /** Words that went nowhere. */
  rest: string;
}

export interface Filling {
  phrase: Phrase;
  tool: ToolDefinition;
  plan: Plan;
  step: TaskStep;
  result: FilledArguments;
}

export function set(filling: Filling, parameter: Parameter, value: JsonValue): void {
  filling.result.args.set(parameter.name, literal(value));
}

export function toFound(list: string[]): { list: string[] } | { value: string } {
  return list.length > 1 ? { list } : { value: list[0] ?? "" };
}

export function setReference(filling: Filling, parameter: Parameter, reference: Reference): void {
  const wantsText = hasType(parameter.schema, "string");
  filling.result.args.set(
    parameter.name,
    wantsText ? asText(reference.expression, reference.schema) : reference.expression,
  );
  filling.result.consumed.push(reference.value);
}

/** Words of a question or an order are no value: nothing is called "which cities can you give". */
const NO_VALUE = new Set(
  `which what who whom whose how why can could would should shall do does did is are was were am be have has had you we
  they them he she me us please than if then there give get show tell not but or except without twice daily every always never again`.split(
    /\s+/,
  ),
);
const CHECKED = new Set([
  "place",
  "table",
  "identifier",
  "language",
  "recipient",
  "currency",
  "channel",
  "title",
]);

export function setFound(filling: Filling, parameter: Parameter, found: ReturnType<typeof takeByRole>): void {
  if (found === undefined) return;
  const values = "list" in found ? found.list : [String(found.value)];
  const isQuoted = values.every((value) => filling.phrase.quotes.includes(value));
  if (
    !isQuoted &&
    CHECKED.has(parameter.role) &&
    values.some((value) => hasNoValue(value) || isNoPlace(value, parameter))
  ) {
    const refused = values.find((value) => splitWords(value).some((word) => DEMANDING_WORDS.has(word)));
    if (refused !== undefined) filling.result.wrong = { parameter, value: refused };
    return;
  }
  if ("value" in found) set(filling, parameter, found.value);
  else if (hasType(parameter.schema, "array"))
    filling.result.args.set(parameter.name, array(found.list.map((item) => literal(item))));
  else setEach(filling, parameter, found.list);
}

/**
 * A place has a name, not numbers and not words that ask for more. In small letters it is one only where the tool can't do
 * without, and without an article.
 */
function isNoPlace(value: string, { role, isRequired }: Parameter): boolean {
  if (role !== "place") return false;
  const words = splitWords(value);
  const isName = /^\p{Lu}/u.test(value) || (isRequired && !isStopWord(words[0] ?? "") && words.length <= 3);
  return !isName || /\d/u.test(value) || words.some((word) => DEMANDING_WORDS.has(word));
}

/** `US` is a value, `us` is none. */
function hasNoValue(value: string): boolean {
  return value
    .split(/\s+/u)
    .some((word) => NO_VALUE.has(word.toLowerCase()) && (word.length === 1 || word !== word.toUpperCase()));
}

export function setEach(filling: Filling, parameter: Parameter, values: (string | number)[]): void {
  const [only] = values;
  if (values.length === 1 && only !== undefined) return set(filling, parameter, only);
  if (filling.result.each !== undefined) return undefined;
  filling.result.each = { parameter: parameter.name, values };
  filling.result.args.set(parameter.name, literal(null));
  return undefined;
}
