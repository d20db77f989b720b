import type { JsonSchema, ToolDefinition } from "@cem/core";
import { toolId } from "@cem/core";
import { splitWords } from "@cem/text";
import { fillArguments } from "../arguments/fill.ts";
import { enumOf, type Parameter, readParameters } from "../arguments/roles.ts";
import { kindOfTool } from "../matching/verb-classes.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findReference, matchProperty, sameWords } from "../planning/references.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../planning/value.ts";
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
} from "../program/expression.ts";
import { camelCase, plural, singular } from "../program/names.ts";
import { refusal } from "./refusal.ts";
import { resultWords } from "./result-words.ts";

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
): Value {
  const toolCall = plan.callTool(tool, args);
  if (toolCall.kind !== "await") {
    return plan.declare(method(list, "map", arrow([item], toolCall)), {
      words: resultWords(tool),
      schema: { type: "array", items: tool.outputSchema ?? {} },
    });
  }
  const mapped = method(list, "map", arrow([item], toolCall.value));
  return plan.declare(awaited(call(member(name("Promise"), "all"), mapped)), {
    words: resultWords(tool),
    schema: { type: "array", items: tool.outputSchema ?? {} },
  });
}

const THAT_MANY =
  /\b(?:that many|this many|as many|the same number of)\s+([\p{L}_]+)(?:\s*,?\s*(?:starting|beginning|start|first)\s+(?:with|from|at|by)\s+(.+?))?$/iu;

/** `get weather for that many cities starting with San Francisco`: a listing tool of the same server gives the cities. */
export function planThatMany(tool: ToolDefinition, text: string, plan: Plan): boolean {
  const fixed =
    /\b(?:for|of)\s+(?:the\s+)?(?:first\s+)?(\d{1,6})\s+(cities|locations|places|towns)\b(?:\s*,?\s*(?:starting|beginning)\s+(?:with|from|at)\s+(.+?))?$/iu.exec(
      text,
    );
  const match = THAT_MANY.exec(text) ?? (fixed && [fixed[0], fixed[2] ?? "", fixed[3]]);
  if (match === null) return false;
  const [, noun = "", first] = match;
  if (readParameters(tool).some((one) => one.role === "number" && sameWords(one.name, noun))) return false;
  const target = readParameters(tool).find((one) => one.isRequired && hasType(one.schema, "string"));
  if (target === undefined) return false;
  const lister = plan.tools.find(
    (one) =>
      one.server === tool.server &&
      one !== tool &&
      /^(?:list|all|search|find)$/u.test(kindOfTool(splitWords(one.name)) ?? "") &&
      readParameters(one).every((parameter) => !parameter.isRequired),
  );
  const count = fixed === null ? findReference("the number", plan, "number") : undefined;
  if (fixed === null && count === undefined) {
    throw new Unfilled({
      step: text,
      reason: "missing-argument",
      tool: toolId(tool),
      argument: target.name,
      hint: `There is no earlier number that "that many" could mean.`,
    });
  }
  if (lister === undefined) {
    throw new Unfilled({
      step: text,
      reason: "missing-argument",
      tool: toolId(tool),
      argument: target.name,
      hint: `No tool of ${tool.server} lists ${noun}. Name the ${noun} in the task.`,
    });
  }
  if (count !== undefined) count.value.consumed = true;
  const item = singular(noun);
  const names = declareNames(plan, lister, target, noun);
  const limit = count?.expression ?? literal(Number(fixed?.[1]));
  const start = first
    ?.trim()
    .replace(/^["'`](.*)["'`]$/u, "$1")
    .replace(/[.?!]$/u, "");
  const chosen = plan.declare(
    start === undefined
      ? method(names.expression, "slice", literal(0), limit)
      : firstThenRest(names.expression, start, item, limit),
    { words: plural(noun), schema: { type: "array", items: { type: "string" } } },
  );
  chosen.consumed = true;
  const filled = fillArguments(
    tool,
    { text: text.slice(0, text.length - (match[0]?.length ?? 0)), fields: [], items: [] },
    plan,
  );
  declareMapped(
    plan,
    tool,
    chosen.expression,
    camelCase(item),
    new Map(filled.args).set(target.name, name(camelCase(item))),
  );
  return true;
}

function firstThenRest(list: Expression, start: string, item: string, limit: Expression): Expression {
  const others = method(
    list,
    "filter",
    arrow([camelCase(item)], binary(name(camelCase(item)), "!==", literal(start))),
  );
  return method(array([literal(start), spread(others)]), "slice", literal(0), limit);
}

function declareNames(plan: Plan, lister: ToolDefinition, target: Parameter, noun: string): Value {
  const known = plan.declare(plan.callTool(lister, new Map()), {
    words: resultWords(lister),
    schema: lister.outputSchema ?? {},
  });
  known.consumed = true;
  const list = listIn(known);
  const item = list.schema.items ?? {};
  if (!hasType(item, "object")) return { ...known, expression: list.expression, schema: list.schema };
  const key =
    [target.name, "name", noun, "id", "title"]
      .map((words) => matchProperty(singular(words), item))
      .find((one) => one !== undefined) ?? "name";
  return {
    ...known,
    expression: method(
      list.expression,
      "map",
      arrow(
        [camelCase(singular(known.words)) || "item"],
        member(name(camelCase(singular(known.words)) || "item"), key),
      ),
    ),
    schema: { type: "array", items: { type: "string" } },
  };
}

/** The list that a value is, or holds. */
function listIn(value: Value): { expression: Expression; schema: JsonSchema } {
  if (!hasType(value.schema, "object")) return { expression: value.expression, schema: value.schema };
  const list = propertiesOf(value.schema).find(([, schema]) => hasType(schema, "array"));
  return list === undefined
    ? { expression: value.expression, schema: value.schema }
    : { expression: member(value.expression, list[0]), schema: list[1] };
}

const EACH = /\b(?:each|every|all)(?:\s+of)?(?:\s+(?:the|those|these|them|their|its))?(?:\s+([\p{L}_]+))?/iu;

/** `each city in cities.json`: a list of plain values, as far as the text tells. */
function listInFile(plan: Plan, noun: string | undefined): Value | undefined {
  const { document } = plan;
  if (document === undefined || noun === undefined || document.value !== plan.values.at(-1)) return undefined;
  if (!document.isLoaded || document.isDirty || document.fields.size > 0) return undefined;
  document.value.consumed = true;
  const list = cast(document.value.expression, "unknown[]");
  return { ...document.value, expression: list, schema: { type: "array", items: {} }, words: plural(noun) };
}

/** `get the weather for each city`: once for every entry of an earlier list. */
export function planForEachResult(tool: ToolDefinition, text: string, plan: Plan): boolean {
  const match =
    /\b(?:each|every)\s+[\p{L}_]+['’]s\s+([\p{L}_]+)/iu.exec(text) ??
    /\b(?:the\s+)?([\p{L}_]+)\s+of\s+(?:each|every)\b/iu.exec(text) ??
    EACH.exec(text);
  if (match === null) return false;
  const source =
    plan.values.findLast((value) => hasType(listIn(value).schema, "array")) ?? listInFile(plan, match[1]);
  const target = readParameters(tool).find(
    (one) => one.isRequired && !hasType(one.schema, "array", "boolean"),
  );
  if (source === undefined || target === undefined) return false;
  const list = listIn(source);
  const item = list.schema.items ?? {};
  const variable = camelCase(singular(source.words)) || "item";
  const isUnknown = Object.keys(item).length === 0;
  const isPlain = isUnknown || hasType(item, "string", "number", "integer");
  const key = isPlain
    ? undefined
    : [match[1], target.name, "name"]
        .flatMap((words) => (words === undefined ? [] : [matchProperty(singular(words), item)]))
        .find((one) => one !== undefined);
  const isFree =
    !isPlain &&
    key === undefined &&
    propertiesOf(item).length === 0 &&
    match[1] !== undefined &&
    !sameWords(match[1], source.words);
  if (!isPlain && key === undefined && !isFree) return false;
  const cell = isPlain
    ? name(variable)
    : member(name(variable), key ?? singular(match[1] ?? target.name).toLowerCase());
  const isTyped = (isPlain && !isUnknown) || key !== undefined;
  const value = isNumeric(target.schema)
    ? isTyped
      ? cell
      : call("Number", cell)
    : isTyped && hasType(isPlain ? item : (item.properties?.[key ?? ""] ?? {}), "string")
      ? cell
      : call("String", cell);
  source.consumed = true;
  const filled = fillArguments(tool, { text: text.slice(0, match.index), fields: [], items: [] }, plan);
  const missing = filled.missing.filter((one) => one.name !== target.name);
  if (missing.length > 0) throw refusal(text, tool, { ...filled, missing });
  declareMapped(plan, tool, list.expression, variable, new Map(filled.args).set(target.name, value));
  return true;
}
