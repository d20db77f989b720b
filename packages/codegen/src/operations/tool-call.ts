import type { JsonSchema, ToolDefinition } from "@cem/core";
import { toolId } from "@cem/core";
import { isVerb, splitWords } from "@cem/text";
import { fillArguments, type FilledArguments } from "../arguments/fill.ts";
import { enumOf, type Parameter, readParameters } from "../arguments/roles.ts";
import { isKnownVerb, isReading, kindOfTool } from "../matching/verb-classes.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findReference, matchProperty, sameWords } from "../planning/references.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../planning/value.ts";
import {
  array,
  arrow,
  awaited,
  binary,
  call,
  type Expression,
  literal,
  member,
  method,
  name,
  spread,
} from "../program/expression.ts";
import { camelCase, plural, singular } from "../program/names.ts";
import type { StepContext } from "./operation.ts";

const MAX_CANDIDATES = 6;

/** Calls the tool that suits the step best and whose parameters the text fills. */
export function planToolCall({ step, plan, matches }: StepContext): boolean {
  const candidates =
    plan.preferred === undefined
      ? matches.slice(0, MAX_CANDIDATES).map((match) => match.tool)
      : [plan.preferred];
  let firstMissing: { tool: ToolDefinition; filled: FilledArguments } | undefined;
  for (const [at, tool] of candidates.entries()) {
    if (planThatMany(tool, step.text, plan) || planForEachResult(tool, step.text, plan)) return true;
    const filled = fillArguments(tool, step, plan);
    if (filled.missing.length === 0 && filled.wrong === undefined) {
      if (at > 0 && !isCloseSecond(matches, at)) break;
      declareCall(plan, tool, filled, step.text);
      return true;
    }
    firstMissing ??= { tool, filled };
  }
  if (firstMissing === undefined) return false;
  throw refusal(step.text, firstMissing.tool, firstMissing.filled);
}

function isCloseSecond(matches: StepContext["matches"], at: number): boolean {
  return (matches[at]?.score ?? 0) >= 0.6 * (matches[0]?.score ?? 0);
}

function refusal(step: string, tool: ToolDefinition, filled: FilledArguments): Unfilled {
  const parameter = filled.wrong?.parameter ?? filled.missing[0];
  const allowed = parameter === undefined ? [] : enumOf(parameter.schema);
  const choices = allowed.length > 0 ? ` It is one of ${allowed.slice(0, 12).join(", ")}.` : "";
  const hint =
    filled.wrong === undefined
      ? `${toolId(tool)} needs ${filled.missing.map((one) => describe(one)).join(" and ")}. Say it in the task.${choices}`
      : `"${filled.wrong.value.slice(0, 60)}" is no ${filled.wrong.parameter.name} of ${toolId(tool)}.${choices}`;
  return new Unfilled({
    step,
    reason: "missing-argument",
    tool: toolId(tool),
    argument: parameter?.name ?? "",
    hint,
  });
}

function describe(parameter: Parameter): string {
  const description = (parameter.schema.description ?? "").split(/[.;:\n]/u)[0]?.trim() ?? "";
  return description === "" ? parameter.name : `${parameter.name} (${description.slice(0, 80)})`;
}

function declareCall(plan: Plan, tool: ToolDefinition, filled: FilledArguments, step: string): void {
  for (const value of filled.consumed) value.consumed = true;
  const nameWords = splitWords(tool.name);
  const isEffect =
    ["write", "remove", "update"].includes(kindOfTool(nameWords) ?? "") &&
    !isReading(nameWords) &&
    (kindOfTool(nameWords) === "write" || /\bfile\b/u.test(nameWords.join(" ")));
  if (filled.each !== undefined) {
    declareEach(
      plan,
      tool,
      filled,
      array(filled.each.values.map((value) => literal(value))),
      filled.each.parameter,
      step,
    );
    return;
  }
  const declared = plan.declare(plan.callTool(tool, filled.args), {
    words: resultWords(tool),
    schema: tool.outputSchema ?? {},
    isEffect,
  });
  const path = filled.args.get("path");
  if (path?.kind === "literal" && typeof path.value === "string") plan.lastPath = path.value;
  nameAfterTable(declared, filled);
}

/** `describe_table({ table: "users" })` may also be called users. */
function nameAfterTable(declared: Value, filled: FilledArguments): void {
  const [only] = [...filled.args.values()];
  if (filled.args.size === 1 && only?.kind === "literal" && only.value === "" && declared.words === "")
    declared.words = "result";
}

function declareEach(
  plan: Plan,
  tool: ToolDefinition,
  filled: FilledArguments,
  list: Expression,
  parameter: string,
  step: string,
): Value {
  const item = camelCase(singular(parameter)) || "item";
  const listName = plan.declare(list, {
    words: plural(item),
    schema: { type: "array", items: list.kind === "array" ? { type: "string" } : {} },
  });
  listName.consumed = true;
  const args = new Map(filled.args).set(parameter, name(item));
  return declareMapped(plan, tool, listName.expression, item, args, step);
}

function declareMapped(
  plan: Plan,
  tool: ToolDefinition,
  list: Expression,
  item: string,
  args: Map<string, Expression>,
  _step: string,
): Value {
  const toolCall = plan.callTool(tool, args);
  const mapped = method(list, "map", arrow([item], toolCall.kind === "await" ? toolCall.value : toolCall));
  const all = awaited(call(member(name("Promise"), "all"), mapped));
  return plan.declare(all, {
    words: resultWords(tool),
    schema: { type: "array", items: tool.outputSchema ?? {} },
  });
}

/** What people call what a tool gives: `get_weather` gives weather. */
export function resultWords(tool: ToolDefinition): string {
  const words = splitWords(tool.name).filter(
    (word, at, all) =>
      !(isKnownVerb(word) && all.length > 1 && at === 0) && !/^(?:by|for|of|the|from|to|and|in)$/u.test(word),
  );
  const [verb = "", ...object] = splitWords(tool.name);
  if (isVerb(verb) && object.length > 0 && object.every((word) => GENERIC.test(word)))
    return verb.replace(/e?$/u, "ed");
  if (words.length === 1 && words[0] === splitWords(tool.name).join("")) return "result";
  if (words.includes("search")) return "search results";
  if (/^(?:read|get|load|fetch)$/u.test(splitWords(tool.name)[0] ?? "") && /^file/u.test(words.join(" ")))
    return "content";
  if (/^list$/u.test(splitWords(tool.name)[0] ?? "") && /director|folder/u.test(words.join(" ")))
    return "entries";
  return words.join(" ");
}

const GENERIC = /^(?:number|numbers|value|text|string|word|words|list|items|input|data)$/u;

const THAT_MANY =
  /\b(?:that many|this many|as many|the same number of)\s+([\p{L}_]+)(?:\s*,?\s*(?:starting|beginning|start|first)\s+(?:with|from|at|by)\s+(.+?))?$/iu;

/** `get weather for that many cities starting with San Francisco`: a listing tool of the same server gives the cities. */
function planThatMany(tool: ToolDefinition, text: string, plan: Plan): boolean {
  const fixed =
    /\b(?:for|of)\s+(?:the\s+)?(?:first\s+)?(\d{1,6})\s+(cities|locations|places|towns)\b(?:\s*,?\s*(?:starting|beginning)\s+(?:with|from|at)\s+(.+?))?$/iu.exec(
      text,
    );
  const match = THAT_MANY.exec(text) ?? (fixed && [fixed[0], fixed[2] ?? "", fixed[3]]);
  if (match === null) return false;
  const [, noun = "", first] = match;
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
    text,
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

/** `get the weather for each city`: once for every entry of an earlier list. */
function planForEachResult(tool: ToolDefinition, text: string, plan: Plan): boolean {
  const match =
    /\b(?:each|every)\s+[\p{L}_]+['’]s\s+([\p{L}_]+)/iu.exec(text) ??
    /\b(?:the\s+)?([\p{L}_]+)\s+of\s+(?:each|every)\b/iu.exec(text) ??
    EACH.exec(text);
  if (match === null) return false;
  const source = plan.values.findLast((value) => hasType(listIn(value).schema, "array"));
  const target = readParameters(tool).find(
    (one) => one.isRequired && !hasType(one.schema, "array", "boolean"),
  );
  if (source === undefined || target === undefined) return false;
  const list = listIn(source);
  const item = list.schema.items ?? {};
  const variable = camelCase(singular(source.words)) || "item";
  const isPlain = hasType(item, "string", "number", "integer");
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
  const isTyped = isPlain || key !== undefined;
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
  declareMapped(plan, tool, list.expression, variable, new Map(filled.args).set(target.name, value), text);
  return true;
}
