import type { JsonSchema, JsonValue, ToolDefinition } from "@cem/core";
import { splitWords, stem, type TaskStep } from "@cem/text";
import { array, type Expression, literal, member } from "../program/expression.ts";
import type { Plan } from "../planning/plan.ts";
import { findReference, matchProperty, type Reference, sameWords } from "../planning/references.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../planning/value.ts";
import { NUMBER, Phrase, QUOTED } from "../reading/phrase.ts";
import { toExpression } from "../operations/arithmetic.ts";
import { formula, readArithmetic, readExpression } from "../reading/arithmetic.ts";
import { readJson } from "../reading/json.ts";
import { asText } from "./convert.ts";
import { takeFlag, takeNamedToken, takeNamedWords, takeNumber } from "./explicit.ts";
import { splitList } from "./lists.ts";
import { enumOf, type Parameter, readParameters } from "./roles.ts";
import { takeByRole, takeSlug } from "./take-by-role.ts";

/** What a step gives a tool. */
export interface FilledArguments {
  args: Map<string, Expression>;
  /** The tool is called once for each of these. */
  each?: { parameter: string; values: (string | number)[] };
  /** Required parameters that nothing fills. */
  missing: Parameter[];
  /** A value that the tool does not take. */
  wrong?: { parameter: Parameter; value: string };
  /** Earlier results that went in. */
  consumed: Value[];
  /** Words that went nowhere. */
  rest: string;
}

interface Filling {
  phrase: Phrase;
  tool: ToolDefinition;
  plan: Plan;
  step: TaskStep;
  result: FilledArguments;
}

/** Fills a tool's parameters from a step's words, then from earlier results. */
export function fillArguments(tool: ToolDefinition, step: TaskStep, plan: Plan): FilledArguments {
  const parameters = readParameters(tool);
  const result: FilledArguments = { args: new Map(), missing: [], consumed: [], rest: "" };
  const filling: Filling = { phrase: new Phrase(step.text), tool, plan, step, result };
  fillFromFields(filling, parameters);
  fillSlug(filling, parameters);
  const rounds: ((filling: Filling, parameter: Parameter) => void)[] = [
    fillNamed,
    fillTyped,
    fillNamedWords,
    fillReference,
    fillByRole,
    fillLeftover,
    fillFromResults,
  ];
  for (const round of rounds) {
    for (const parameter of inOrder(parameters))
      if (!result.args.has(parameter.name)) round(filling, parameter);
  }
  result.missing = parameters.filter((parameter) => parameter.isRequired && !result.args.has(parameter.name));
  result.args = new Map(
    parameters.flatMap(({ name }) => {
      const value = result.args.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  result.rest = filling.phrase.rest;
  return result;
}

/** What has a form of its own goes first, free text last. */
function inOrder(parameters: readonly Parameter[]): Parameter[] {
  const order = [
    "enum",
    "sql",
    "expression",
    "email",
    "url",
    "path",
    "channel",
    "date",
    "boolean",
    "number",
    "list",
    "object",
    "language",
    "table",
    "title",
    "message",
    "query",
    "recipient",
    "identifier",
    "place",
    "text",
  ];
  return [...parameters].toSorted(
    (a, b) => Number(b.isRequired) - Number(a.isRequired) || order.indexOf(a.role) - order.indexOf(b.role),
  );
}

function set(filling: Filling, parameter: Parameter, value: JsonValue): void {
  filling.result.args.set(parameter.name, literal(value));
}

function fillFromFields(filling: Filling, parameters: readonly Parameter[]): void {
  for (const field of filling.step.fields) {
    const parameter = parameters.find((one) => sameWords(one.name, field.key));
    if (parameter === undefined) continue;
    const value = readJson(field.value) ?? field.value;
    set(
      filling,
      parameter,
      hasType(parameter.schema, "string") && typeof value !== "string" ? field.value : value,
    );
  }
  const { items } = filling.step;
  const target = parameters.find((one) => one.isRequired && !filling.result.args.has(one.name));
  if (items.length === 0 || target === undefined) return;
  const values = items.map((item) => item.replace(/^["'`](.*)["'`]$/u, "$1"));
  if (target.role === "list") set(filling, target, values);
  else setEach(filling, target, values);
}

function fillSlug({ phrase, result }: Filling, parameters: readonly Parameter[]): void {
  const owner = parameters.find((one) => one.role === "owner");
  const repository = parameters.find((one) => one.role === "repository");
  if (repository === undefined) return;
  const slug = takeSlug(phrase);
  if (slug === undefined) return;
  if (owner !== undefined) result.args.set(owner.name, literal(slug.owner));
  result.args.set(repository.name, literal(owner === undefined ? slug.whole : slug.repository));
}

function fillNamed(filling: Filling, parameter: Parameter): void {
  const { phrase } = filling;
  if (parameter.role === "boolean") {
    const flag = takeFlag(phrase, parameter);
    if (flag !== undefined) set(filling, parameter, flag);
  } else if (parameter.role === "number") {
    const token = takeNumber(phrase, parameter);
    const number = token === undefined ? undefined : phrase.value(token);
    if (typeof number === "number") set(filling, parameter, number);
  } else if (parameter.role === "enum") {
    fillEnum(filling, parameter);
  } else if (parameter.role !== "list" && parameter.role !== "object" && parameter.role !== "date") {
    const token = takeNamedToken(phrase, parameter, QUOTED);
    const value = token === undefined ? undefined : phrase.quoted(token);
    if (value !== undefined) set(filling, parameter, value);
  }
}

/** One of the values it is limited to; several of them, and the tool is called once for each. */
function fillEnum(filling: Filling, parameter: Parameter): void {
  const found: (string | number)[] = [];
  for (
    let value = takeEnum(filling, parameter);
    value !== undefined && found.length < 50;
    value = takeEnum(filling, parameter)
  ) {
    if (!found.includes(value)) found.push(value);
  }
  if (found.length > 0) return setEach(filling, parameter, found);
  const token =
    takeNamedToken(filling.phrase, parameter, QUOTED) ?? takeNamedWords(filling.phrase, parameter);
  if (token !== undefined) filling.result.wrong = { parameter, value: filling.phrase.decode(token) };
  return undefined;
}

function takeEnum(filling: Filling, parameter: Parameter): string | number | undefined {
  const values = [...enumOf(parameter.schema)].toSorted((a, b) => String(b).length - String(a).length);
  for (const value of values) {
    const words = splitWords(String(value)).map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "."));
    if (words.length === 0) continue;
    const forms =
      words.length === 1 && /^[a-z]{4,}$/u.test(words[0] ?? "")
        ? stemPattern(words[0] ?? "")
        : words.join("[\\s_-]*");
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}])(?:(?:in|with|of)\\s+(?:the\\s+)?)?(?:${parameter.words.join("[\\s_-]*")}\\s*(?::|=|is)?\\s*)?(?:${forms})(?![\\p{L}\\p{N}])`,
      "iu",
    );
    if (filling.phrase.take(pattern) !== undefined) return value;
    const quoted = filling.phrase.quotes.findIndex(
      (text) => text.toLowerCase() === String(value).toLowerCase(),
    );
    if (quoted >= 0 && filling.phrase.take(new RegExp(`\\uE000${quoted}\\uE001`, "u")) !== undefined)
      return value;
  }
  return undefined;
}

function stemPattern(word: string): string {
  const root = stem(word);
  return word.startsWith(root) && root.length > 3
    ? `${root}(?:${word.slice(root.length)}|s|es|ed|ing|y|ies)?`
    : word;
}

function fillTyped(filling: Filling, parameter: Parameter): void {
  const { phrase, plan } = filling;
  if (parameter.role === "expression") {
    const arithmetic = readArithmetic(filling.step.text);
    const text = arithmetic === undefined ? undefined : formula(arithmetic);
    if (text !== undefined) set(filling, parameter, text);
  } else if (["email", "url", "path", "channel", "date"].includes(parameter.role)) {
    setFound(filling, parameter, takeByRole(phrase, parameter, plan.now()));
  } else if (parameter.role === "list") {
    fillList(filling, parameter);
  } else if (parameter.role === "object") {
    const json = readJson(/\{[\s\S]*\}/u.exec(filling.step.text)?.[0] ?? "");
    if (json !== undefined) set(filling, parameter, json);
  }
}

function fillList(filling: Filling, parameter: Parameter): void {
  const { phrase } = filling;
  const item = parameter.schema.items ?? {};
  const token = `(?:${QUOTED}|[^\\s,;\\uE000-\\uE002]+)`;
  const LIST = `${token}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${token})*`;
  const json = /\[[^\]]*\]/u.exec(filling.step.text)?.[0];
  const written = json === undefined ? undefined : readJson(json);
  if (Array.isArray(written)) return set(filling, parameter, written);
  const named = takeNamedToken(phrase, parameter, LIST);
  const found =
    named === undefined
      ? parameter.isRequired
        ? bareList(phrase, item)
        : undefined
      : splitList(named, phrase);
  if (found === undefined || found.length === 0) return undefined;
  const isNumberList = isNumeric(item);
  const values = found.map((part) => (isNumberList ? phrase.value(part) : part));
  if (!isNumberList || values.every((value) => typeof value === "number")) set(filling, parameter, values);
  return undefined;
}

function bareList(phrase: Phrase, item: JsonSchema): string[] | undefined {
  const token = isNumeric(item) ? NUMBER : QUOTED;
  const match = phrase.take(
    new RegExp(`(?:${token})(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)(?:${token}))*`, "u"),
  );
  if (match !== undefined) return splitList(match[0], phrase);
  return undefined;
}

function fillNamedWords(filling: Filling, parameter: Parameter): void {
  if (
    ["boolean", "number", "list", "object", "enum", "sql", "expression", "date", "path"].includes(
      parameter.role,
    )
  )
    return;
  const words = takeNamedWords(filling.phrase, parameter);
  if (words === undefined) return;
  const value = filling.phrase.decode(words).trim();
  const reference = findReference(value, filling.plan);
  if (reference !== undefined && /^(?:it|that|this|them|the\b.*)$/iu.test(value))
    setReference(filling, parameter, reference);
  else if (parameter.role === "place")
    setFound(filling, parameter, toFound(splitList(words, filling.phrase, true)));
  else set(filling, parameter, value);
}

function toFound(list: string[]): { list: string[] } | { value: string } {
  return list.length > 1 ? { list } : { value: list[0] ?? "" };
}

/** `post it to …`, `that many`, `the result`: what the text points at. */
function fillReference(filling: Filling, parameter: Parameter): void {
  const { phrase, plan } = filling;
  if (!parameter.isRequired || plan.values.length === 0) return;
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

function fillByRole(filling: Filling, parameter: Parameter): void {
  const isEager = parameter.isRequired || parameter.role === "place" || parameter.role === "language";
  if (isEager) setFound(filling, parameter, takeByRole(filling.phrase, parameter, filling.plan.now()));
}

/** What nothing claimed goes to the one required parameter that is still open. */
function fillLeftover(filling: Filling, parameter: Parameter): void {
  if (!parameter.isRequired) return;
  const { phrase } = filling;
  if (parameter.role === "number" || isNumeric(parameter.schema)) {
    const sum = phrase.find(/(?<![\p{L}\d.])[\d(][\d\s.+*/()^-]*[-+*/^][\d\s.+*/()^-]*[\d)](?![\p{L}\d])/u);
    const arithmetic = sum === undefined || /\d-\d\d?-\d/u.test(sum[0]) ? undefined : readExpression(sum[0]);
    if (sum !== undefined && arithmetic !== undefined) {
      phrase.remove(sum.index, sum[0].length);
      filling.result.args.set(parameter.name, toExpression(arithmetic, filling.plan, filling.step.text));
      return;
    }
    const token = phrase.take(new RegExp(`(?<![\\p{L}\\d.])#?(${NUMBER})(?![\\p{L}\\d]|\\.\\d)`, "u"))?.[1];
    const number = token === undefined ? undefined : phrase.value(token);
    if (typeof number === "number") set(filling, parameter, number);
    return;
  }
  if (
    ![
      "text",
      "message",
      "title",
      "query",
      "identifier",
      "place",
      "table",
      "repository",
      "owner",
      "language",
    ].includes(parameter.role)
  )
    return;
  const token = phrase.take(new RegExp(QUOTED, "u"))?.[0];
  const quoted = token === undefined ? undefined : phrase.quoted(token);
  if (quoted !== undefined) return set(filling, parameter, quoted);
  if (!["query", "place", "identifier", "text", "message"].includes(parameter.role)) return undefined;
  const words = remainingWords(filling);
  if (words === undefined) return undefined;
  if (parameter.role === "place" && !isPlace(words, filling)) return undefined;
  setFound(
    filling,
    parameter,
    parameter.role === "place" ? toFound(splitList(words, phrase, true)) : { value: words },
  );
  return undefined;
}

/** A capital letter, or a step that says the tool's own noun, makes bare words a place. */
function isPlace(words: string, { tool, step }: Filling): boolean {
  if (/\b(?:which|what|who|how|is|are|one|1|date|time|it|them)\b/iu.test(words)) return false;
  const said = new Set(splitWords(step.text.slice(0, 1_000)).map(stem));
  return (
    /^\p{Lu}/u.test(words) ||
    splitWords(tool.name)
      .slice(1)
      .some((word) => said.has(stem(word)))
  );
}

/** The object of the verb: what is left when the verb, the tool's own words and small words are gone. */
function remainingWords({ phrase, tool, result }: Filling): string | undefined {
  const open = readParameters(tool).filter((one) => one.isRequired && !result.args.has(one.name));
  if (open.length !== 1) return undefined;
  const own = new Set(
    [
      ...splitWords(tool.name),
      ...splitWords(tool.server),
      ...readParameters(tool).flatMap((one) => one.words),
    ].map(stem),
  );
  const words = phrase.rest.split(/\s+/u).filter((word) => word !== "");
  const isOwn = (word: string): boolean =>
    splitWords(word).every((part) => own.has(stem(part)) || SMALL_WORDS.has(part));
  let first = 0;
  while (
    first < words.length &&
    (isOwn(words[first] ?? "") ||
      (first === 0 &&
        /^(?:get|show|find|search|look|give|tell|fetch|run|use|call|check|say|what|whats|is)$/iu.test(
          words[0] ?? "",
        )))
  )
    first += 1;
  let last = words.length;
  while (last > first && isOwn(words[last - 1] ?? "")) last -= 1;
  const text = words
    .slice(first, last)
    .join(" ")
    .replace(/[?.!,:;]+$/u, "")
    .trim();
  const isPointing =
    /^(?:the |this |that |these |those |both )?(?:results?|outputs?|answers?|values?|it|them|that|this|everything|both|summary|data)$/iu.test(
      text,
    );
  return text === "" || isPointing || SMALL_WORDS.has(text.toLowerCase()) ? undefined : text;
}

const SMALL_WORDS = new Set(
  "the a an of for in on at to with from by and or me us please is are was it its this that these those up out some any my our your all each s info information current now today".split(
    " ",
  ),
);

/** A property of an earlier result with the parameter's name and type. */
function fillFromResults(filling: Filling, parameter: Parameter): void {
  if (!parameter.isRequired || parameter.role === "boolean") return;
  const wantsNumber = isNumeric(parameter.schema);
  for (const value of filling.plan.values.toReversed()) {
    if (value.each !== undefined) continue;
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

function setReference(filling: Filling, parameter: Parameter, reference: Reference): void {
  const wantsText = hasType(parameter.schema, "string");
  filling.result.args.set(
    parameter.name,
    wantsText ? asText(reference.expression, reference.schema) : reference.expression,
  );
  filling.result.consumed.push(reference.value);
}

function setFound(filling: Filling, parameter: Parameter, found: ReturnType<typeof takeByRole>): void {
  if (found === undefined) return;
  if ("value" in found) set(filling, parameter, found.value);
  else if (hasType(parameter.schema, "array"))
    filling.result.args.set(parameter.name, array(found.list.map((item) => literal(item))));
  else setEach(filling, parameter, found.list);
}

function setEach(filling: Filling, parameter: Parameter, values: (string | number)[]): void {
  const [only] = values;
  if (values.length === 1 && only !== undefined) return set(filling, parameter, only);
  if (filling.result.each !== undefined) return undefined;
  filling.result.each = { parameter: parameter.name, values };
  filling.result.args.set(parameter.name, literal(null));
  return undefined;
}
