import type { ToolDefinition } from "@cem/core";
import { splitStems, stem } from "@cem/core/text";
import { form, type Match, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { referTo } from "../planning/references.ts";
import { cite, hasType, isNumeric, isRows, type Value } from "../planning/value.ts";
import { array, call, literal, name, plural, singular, spread } from "../program/expression.ts";
import type { Expression } from "../program/expression.ts";
import { changes, findCandidates } from "./candidates.ts";
import { fillArguments } from "./fill.ts";
import type { Filling } from "./filling.ts";
import { mayBeOnePage, readParameters, type Parameter } from "./parameters.ts";
import { lowerCall } from "./plan-call.ts";
import { unclaimed } from "./unclaimed.ts";

const EACH = form(
  "{call} (?:for|of|to|in) (?:each|every|all)(?: (?:one )?of)? (?<rows>[\\p{L}_]+)(?: 's {column:name})?",
);
const THAT_MANY = form("{call} (?:for|of|in) that many {what}(?: (?:starting|beginning) with {first})?");

/** Plans a call for each row of an earlier result, or for a number of things given by an earlier result; `false` if it is neither. */
export function planManyCalls(phrase: Phrase, plan: Plan): boolean {
  const each = phrase.match(EACH);
  if (each !== undefined && planEach(each, plan)) return true;
  const many = phrase.match(THAT_MANY);
  return many !== undefined && planThatMany(many, plan);
}

function planEach(found: Match, plan: Plan): boolean {
  const noun = found.lower("rows");
  const rows = referTo(noun, plan) ?? referTo(plural(noun), plan);
  const [filling, parameter] = fillAllButOne(found, plan);
  if (rows === undefined || filling === undefined || parameter === undefined) return false;
  if (rows.pageOf !== undefined) throw onePage(rows, plan);
  const column = found.text("column") || parameter.name;
  const isScalar = hasType(rows.schema.items ?? {}, "string", "number", "integer");
  if (!isScalar && !isRows(rows) && found.text("column") === "") return false;
  const list = hasType(rows.schema, "array") ? rows.expression : call("rowsOf", rows.expression);
  const itemOf = (item: Expression): Expression =>
    isScalar ? item : convert(call("fieldOf", item, literal(column)), parameter);
  lowerCall(filling, plan, { parameter, list, itemOf });
  rows.consumed = true;
  return true;
}

function planThatMany(found: Match, plan: Plan): boolean {
  const count = plan.values.findLast(({ schema }) => isNumeric(schema));
  const [filling, parameter] = fillAllButOne(found, plan);
  if (filling === undefined || parameter === undefined) return false;
  const source = count === undefined ? undefined : findList(found.lower("what"), plan.tools);
  if (count === undefined || source === undefined)
    throw plan.lacks(parameter.name, `Nothing says which ${found.lower("what")} those are.`, filling.tool);
  const all = lowerCall(fillArguments(source, found.part("what") as Phrase, plan), plan);
  all.consumed = true;
  count.consumed = true;
  const names = call("valuesIn", all.expression, literal("name"));
  const first = found.part("first");
  const list = first === undefined ? names : array([literal(first.words), spread(names)]);
  const variable = plan.names.take(found.lower("what"), "items");
  plan.addConstant(variable, call("firstOf", list, count.expression));
  lowerCall(filling, plan, { parameter, list: name(variable), itemOf: (item) => convert(item, parameter) });
  return true;
}

/** Fills all arguments except the one that varies. */
function fillAllButOne(found: Match, plan: Plan): [Filling | undefined, Parameter | undefined] {
  const phrase = found.part("call");
  if (phrase === undefined) return [undefined, undefined];
  for (const { tool } of findCandidates(phrase, plan.tools)) {
    const filling = fillArguments(tool, phrase, plan);
    if (changes(tool) && plan.isQuestion) continue;
    if (filling.missing.length === 1 && unclaimed(filling).length === 0) return [filling, filling.missing[0]];
  }
  return [undefined, undefined];
}

function convert(item: Expression, { schema }: Parameter): Expression {
  if (isNumeric(schema)) return call("numberOf", item);
  return hasType(schema, "string") ? call("String", item) : item;
}

/** The tool that lists all things of a kind with their names, without required arguments. */
function findList(noun: string, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const found = tools.filter(
    (tool) =>
      !changes(tool) &&
      !mayBeOnePage(tool) &&
      readParameters(tool).every(({ isRequired }) => !isRequired) &&
      tool.outputSchema?.items?.properties?.["name"] !== undefined &&
      splitStems(`${tool.name} ${tool.description}`).includes(stem(singular(noun))),
  );
  return found.length === 1 ? found[0] : undefined;
}

/** Refuses to count, filter or iterate a result that may be one of several pages. */
export function onePage(rows: Value, plan: Plan): Error {
  const page = `${rows.pageOf ?? ""} may give one page of more rows`;
  return plan.unread("rows", `${page}, so ${cite(plan.stepText)} might leave some out.`);
}
