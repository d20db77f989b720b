import { type JsonSchema, toolId, type ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import type { Plan } from "../../planning/plan.ts";
import { Unfilled } from "../../planning/plan.ts";
import { findReference, matchProperty, sameWords } from "../../planning/references.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../../planning/value.ts";
import {
  array,
  arrow,
  awaited,
  binary,
  call,
  cast,
  type Expression,
  literal,
  member,
  method,
  name,
  spread,
} from "../../program/expression.ts";
import { useHelper } from "../../program/helpers.ts";
import { camelCase, plural, singular } from "../../program/names.ts";
import { fillArguments } from "./fill.ts";
import { enumOf, type Parameter, readParameters } from "./parameters.ts";
import { refusal, unread } from "./refusal.ts";
import { resultWords } from "./result-words.ts";
import { unclaimed } from "./unread.ts";
import { kindOfTool } from "./verbs.ts";

/** Calls a tool once for each of the values that the text lists. */
export function declareEach(
  plan: Plan,
  tool: ToolDefinition,
  args: ReadonlyMap<string, Expression>,
  each: { parameter: string; values: readonly (string | number)[] },
): void {
  const item = camelCase(singular(each.parameter)) || "item";
  const schema = tool.inputSchema.properties?.[each.parameter] ?? {};
  const values = array(each.values.map((value) => literal(value)));
  const list = plan.declare(enumOf(schema).length > 0 ? cast(values, "const") : values, {
    words: plural(item),
    schema: { type: "array", items: { type: "string" } },
  });
  list.consumed = true;
  declareMapped(plan, tool, list.expression, item, new Map(args).set(each.parameter, name(item)));
}

/** `const x = await Promise.all(list.map((item) => tool({ … })))` */
function declareMapped(
  plan: Plan,
  tool: ToolDefinition,
  list: Expression,
  item: string,
  args: ReadonlyMap<string, Expression>,
): void {
  const toolCall = plan.callTool(tool, args);
  const isAwaited = toolCall.kind === "await";
  const mapped = method(list, "map", arrow([item], isAwaited ? toolCall.value : toolCall));
  plan.declare(isAwaited ? awaited(call(member(name("Promise"), "all"), mapped)) : mapped, {
    words: resultWords(tool),
    schema: { type: "array", items: tool.outputSchema ?? {} },
  });
}

const THAT_MANY =
  /\b(?:that many|this many|as many|the same number of)\s{1,9}([\p{L}_]{1,60})(?:\s{0,9}(?:,\s{0,9})?(?:starting|beginning|start|first)\s{1,9}(?:with|from|at|by)\s{1,9}(\S.{0,200}))?$/iu;
const SO_MANY =
  /\b(?:for|of)\s{1,9}(?:the\s{1,9})?(?:first\s{1,9})?(\d{1,6})\s{1,9}(cities|locations|places|towns)\b(?:\s{0,9}(?:,\s{0,9})?(?:starting|beginning)\s{1,9}(?:with|from|at)\s{1,9}(\S.{0,200}))?$/iu;

/** `get weather for that many cities starting with San Francisco`: a listing tool of the same server gives the cities. */
export function readThatMany(tool: ToolDefinition, text: string, plan: Plan): (() => void) | undefined {
  const fixed = SO_MANY.exec(text);
  const match = THAT_MANY.exec(text) ?? (fixed && [fixed[0], fixed[2] ?? "", fixed[3]]);
  if (match === null) return undefined;
  const [whole = "", noun = "", first] = match;
  const parameters = readParameters(tool);
  if (parameters.some((one) => one.role === "number" && sameWords(one.name, noun))) return undefined;
  const target = parameters.find((one) => one.isRequired && hasType(one.schema, "string"));
  if (target === undefined) return undefined;
  const missing = (hint: string): Unfilled =>
    new Unfilled({ step: text, reason: "missing-argument", tool: toolId(tool), argument: target.name, hint });
  const count = fixed === null ? findReference("the number", plan, "number") : undefined;
  if (fixed === null && count === undefined)
    throw missing(`There is no earlier number that "that many" could mean.`);
  const lister = plan.tools.find((one) => one !== tool && lists(one, tool.server));
  if (lister === undefined)
    throw missing(`No tool of ${tool.server} lists ${noun}. Name the ${noun} in the task.`);
  const filled = fillArguments(
    tool,
    { text: text.slice(0, text.length - whole.length), fields: [], items: [] },
    plan,
  );
  const words = unclaimed(tool, text, filled);
  if (words.length > 0) throw unread(text, tool, words);
  return () => {
    if (count !== undefined) count.value.consumed = true;
    const item = camelCase(singular(noun));
    const names = declareNames(plan, lister, target, noun);
    const limit = count?.expression ?? literal(Number(fixed?.[1]));
    const start = first
      ?.trim()
      .replace(/^["'`](.*)["'`]$/u, "$1")
      .replace(/[.?!]$/u, "");
    const chosen = plan.declare(
      start === undefined
        ? method(names, "slice", literal(0), limit)
        : firstThenRest(names, start, item, limit),
      { words: plural(noun), schema: { type: "array", items: { type: "string" } } },
    );
    chosen.consumed = true;
    declareMapped(plan, tool, chosen.expression, item, new Map(filled.args).set(target.name, name(item)));
  };
}

function lists(tool: ToolDefinition, server: string): boolean {
  const kind = kindOfTool(splitWords(tool.name)) ?? "";
  if (tool.server !== server || !/^(?:list|search)$/u.test(kind)) return false;
  return readParameters(tool).every((parameter) => !parameter.isRequired);
}

function firstThenRest(list: Expression, start: string, item: string, limit: Expression): Expression {
  const others = method(list, "filter", arrow([item], binary(name(item), "!==", literal(start))));
  return method(array([literal(start), spread(others)]), "slice", literal(0), limit);
}

function declareNames(plan: Plan, lister: ToolDefinition, target: Parameter, noun: string): Expression {
  const known = plan.declare(plan.callTool(lister, new Map()), {
    words: resultWords(lister),
    schema: lister.outputSchema ?? {},
  });
  known.consumed = true;
  const list = listIn(known);
  const item = list.schema.items ?? {};
  if (!hasType(item, "object")) return list.expression;
  const key = [target.name, "name", noun, "id", "title"]
    .map((words) => matchProperty(singular(words), item))
    .find((one) => one !== undefined);
  const variable = camelCase(singular(known.words)) || "item";
  return method(list.expression, "map", arrow([variable], member(name(variable), key ?? "name")));
}

/** The list that a value is, or holds. */
function listIn(value: Value): { expression: Expression; schema: JsonSchema } {
  if (!hasType(value.schema, "object")) return { expression: value.expression, schema: value.schema };
  const list = propertiesOf(value.schema).find(([, schema]) => hasType(schema, "array"));
  return list === undefined
    ? { expression: value.expression, schema: value.schema }
    : { expression: member(value.expression, list[0]), schema: list[1] };
}

const EACH: readonly RegExp[] = [
  /\b(?:each|every)\s+(?<owner>[\p{L}_]+)['’]s\s+(?<noun>[\p{L}_]+)$/iu,
  /(?<![\p{L}_])(?<noun>[\p{L}_]+)\s+of\s+(?:each|every)(?:\s+(?<owner>[\p{L}_]+))?$/iu,
  /\b(?:each|every|all)(?:\s+of)?(?:\s+(?:the|those|these|them|their|its))?(?:\s+(?<noun>[\p{L}_]+))?$/iu,
];

/** `each city in cities.json`: a list of plain values, as far as the text tells. */
function listInFile(plan: Plan, noun: string | undefined): Value | undefined {
  const { document } = plan;
  if (document === undefined || noun === undefined || document.value !== plan.values.at(-1)) return undefined;
  if (!document.isLoaded || document.isDirty || document.fields.size > 0) return undefined;
  const list = cast(document.value.expression, "unknown[]");
  return { ...document.value, expression: list, schema: { type: "array", items: {} }, words: plural(noun) };
}

/** `get the weather for each city`: once for every entry of an earlier list. */
export function readForEachResult(tool: ToolDefinition, text: string, plan: Plan): (() => void) | undefined {
  const match = EACH.map((pattern) => pattern.exec(text)).find((one) => one !== null);
  if (match === undefined) return undefined;
  const { owner, noun } = match.groups ?? {};
  const found = plan.values.findLast((value) => hasType(listIn(value).schema, "array"));
  const source = found ?? listInFile(plan, noun);
  const target = readParameters(tool).find(
    (one) => one.isRequired && !hasType(one.schema, "array", "boolean"),
  );
  if (source === undefined || target === undefined) return undefined;
  if (owner !== undefined && !isMember(owner, source)) return undefined;
  const list = listIn(source);
  const cell = cellFor(list.schema.items ?? {}, noun, source, target);
  if (cell === undefined) return undefined;
  const filled = fillArguments(tool, { text: text.slice(0, match.index), fields: [], items: [] }, plan);
  const missing = filled.missing.filter((one) => one.name !== target.name);
  if (missing.length > 0) throw refusal(text, tool, { ...filled, missing });
  // Words that were taken for what each entry gives would be lost.
  if (filled.args.get(target.name)?.kind === "literal") return undefined;
  const words = unclaimed(tool, text, filled);
  if (words.length > 0) throw unread(text, tool, words);
  return () => {
    source.consumed = true;
    if (found === undefined && plan.document !== undefined) plan.document.value.consumed = true;
    const variable = camelCase(singular(source.words)) || "item";
    declareMapped(
      plan,
      tool,
      list.expression,
      variable,
      new Map(filled.args).set(target.name, cell(name(variable))),
    );
  };
}

const PLACES = /(?:cit(?:y|ies)|locations?|towns?|places?)$/iu;

/** What of an entry is meant: the property that is named, else what the parameter is called, and for a place where it is. */
function keysFor(noun: string | undefined, source: Value, { name: target, role }: Parameter): string[] {
  const isPlace = PLACES.test(source.words);
  const isEntry = noun === undefined || isMember(noun, source) || (isPlace && PLACES.test(noun));
  if (!isEntry) return [noun];
  const places = role === "place" ? ["city", "location", "town", "place"] : [];
  // A user's name is no place; a city's is.
  return [target, ...places, ...(role !== "place" || isPlace ? ["name"] : [])];
}

/** `each user` of the matching users. */
function isMember(noun: string, { words }: Value): boolean {
  return sameWords(noun, words.split(" ").at(-1) ?? "") || /^(?:item|entry|row|record|one)$/iu.test(noun);
}

/** The part of an entry that a parameter takes, in its type. */
function cellFor(
  item: JsonSchema,
  noun: string | undefined,
  source: Value,
  target: Parameter,
): ((entry: Expression) => Expression) | undefined {
  const isUnknown = Object.keys(item).length === 0;
  const isPlain = isUnknown || hasType(item, "string", "number", "integer");
  const key = isPlain
    ? undefined
    : keysFor(noun, source, target)
        .map((words) => matchProperty(singular(words), item))
        .find((one) => one !== undefined);
  const isFree =
    !isPlain &&
    key === undefined &&
    propertiesOf(item).length === 0 &&
    noun !== undefined &&
    !sameWords(noun, source.words);
  if (!isPlain && key === undefined && !isFree) return undefined;
  const schema = isPlain ? item : (item.properties?.[key ?? ""] ?? {});
  const isTyped = (isPlain && !isUnknown) || key !== undefined;
  const fits = isTyped && (isNumeric(target.schema) ? isNumeric(schema) : hasType(schema, "string"));
  return (entry) => {
    const named = singular(noun ?? target.name).toLowerCase();
    if (isUnknown)
      return call(
        isNumeric(target.schema) ? "Number" : "String",
        call(useHelper("partOf"), entry, literal(named)),
      );
    const value = isPlain ? entry : member(entry, key ?? named);
    return fits ? value : call(isNumeric(target.schema) ? "Number" : "String", value);
  };
}
