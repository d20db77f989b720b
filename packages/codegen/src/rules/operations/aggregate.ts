import { lookUp } from "../reading/look-up.ts";
import type { Plan } from "../planning/plan.ts";
import { findDocumentField, findReference, matchProperty, PROPERTY_WORDS } from "../planning/references.ts";
import { hasType, isNumeric, type StateDocument, type Value } from "../planning/value.ts";
import {
  array,
  arrow,
  binary,
  call,
  type Expression,
  literal,
  member,
  method,
  name,
  spread,
} from "../program/expression.ts";
import { columnOf } from "./columns.ts";
import { useHelper } from "./helpers.ts";

/** A number made of many. */
export interface Aggregate {
  expression: Expression;
  words: string;
}

export type Kind = "sum" | "average" | "max" | "min" | "count" | "median" | "spread";

const KINDS: readonly [RegExp, Kind][] = [
  [/^(?:sum|total|add up|sum up|total up)$/iu, "sum"],
  [/^(?:average|mean|avg)$/iu, "average"],
  [/^(?:max|maximum|highest|largest|biggest|greatest|most)$/iu, "max"],
  [/^(?:min|minimum|lowest|smallest|least)$/iu, "min"],
  [/^(?:count|number|amount)$/iu, "count"],
  [/^median$/iu, "median"],
  [/^(?:difference|spread|range)$/iu, "spread"],
];
const PATTERN =
  /^(?:(?:calculate|compute|find|get|determine|what is|what's|show|give me|work out)\s+)?(?:the\s+)?(sum|total|average|mean|avg|max|maximum|highest|largest|biggest|greatest|min|minimum|lowest|smallest|count|number|median|difference|spread|range)(?:\s+(?:value|amount|number))?(?:\s+of)?\s+(?:all\s+|both\s+|every\s+)?(?:of\s+)?(?:the\s+|these\s+|those\s+|its\s+|their\s+)?(.+)$/iu;

/** `calculate the difference`: of what the step before asked for. */
const BARE =
  /^(?:(?:calculate|compute|find|get|determine|what is|what's|show|tell me|print|return|give me|work out)\s+)?(?:the\s+|their\s+)?(sum|total|average|mean|max|maximum|highest|min|minimum|lowest|median|difference)(?:\s+(?:of|between)\s+(?:them|both|the two|those))?$/iu;

/** Reads `the sum of all results in the results array`, where what it is over is known. */
export function readAggregate(words: string, plan: Plan): Aggregate | undefined {
  const asked = newestList(plan);
  if (
    asked !== undefined &&
    /^(?:(?:tell me|print|show|say|report)\s+)?(?:the\s+(?:count|number|total number)(?:\s+of\s+(?:them|those|rows|results|entries|items))?|how many(?:\s+(?:there are|are there|were found|of them|rows|results|items))?)$/iu.test(
      words.trim(),
    )
  ) {
    return { expression: member(asked.expression, "length"), words: "count" };
  }
  const bare = BARE.exec(words.trim().replace(/[.?!]$/u, ""))?.[1];
  if (bare !== undefined && asked?.asked !== undefined) return readAggregate(`${bare} ${asked.asked}`, plan);
  const match = PATTERN.exec(words.trim().replace(/[.?!]$/u, ""));
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const kind = KINDS.find(([pattern]) => pattern.test(match[1] ?? ""))?.[1];
  if (kind === undefined) return undefined;
  const listed = plainList(match[2], plan) ?? listInFile(match[2], plan);
  if (listed !== undefined) return { expression: reduce(kind, listed), words: kind };
  const target = match[2]
    .replace(/\s+(?:in|from|of)\s+(?:the\s+)?(?:\w+\s+)?(?:array|list|state|file)$/iu, "")
    .replace(/\s+(?:array|list|field|together)$/iu, "");
  return (
    overField(kind, match[2], target, plan) ?? overRows(kind, target, plan) ?? overResults(kind, target, plan)
  );
}

/** `sum the numbers`, right after a JSON file was read. */
function plainList(target: string, plan: Plan): Expression | undefined {
  const document = untouchedFile(plan);
  const isWhole = /^(?:the\s+|all\s+)*(?:numbers?|values?|elements?|items?|it|them|list|array)$/iu.test(
    target,
  );
  if (!isWhole || document === undefined) return undefined;
  document.value.consumed = true;
  return call(useHelper("numbersOf"), document.value.expression);
}

/** `sum all results`, right after a JSON file was read: a list in it, or a column of its rows. */
function listInFile(target: string, plan: Plan): Expression | undefined {
  const document = untouchedFile(plan);
  const key =
    /^(?:the\s+|all\s+)*(results|outputs|scores|totals|amounts|readings|samples|measurements)$/iu.exec(
      target,
    )?.[1];
  if (document === undefined || key === undefined) return undefined;
  document.value.consumed = true;
  const list = call(useHelper("fieldOf"), document.value.expression, literal(key.toLowerCase()));
  return call(useHelper("numbersOf"), list);
}

/** The JSON file that the step before read, of which nothing is known yet. */
function untouchedFile({ document, values }: Plan): StateDocument | undefined {
  if (document === undefined || document.value !== values.at(-1)) return undefined;
  return document.isLoaded && !document.isDirty && document.fields.size === 0 ? document : undefined;
}

function overField(kind: Kind, whole: string, target: string, plan: Plan): Aggregate | undefined {
  const inList = /\bin\s+(?:the\s+)?["'`]?(\w+)["'`]?\s+(?:array|list|field)$/iu.exec(whole)?.[1];
  const field =
    (inList === undefined ? undefined : findDocumentField(inList, plan)) ??
    (plan.document === undefined ? undefined : findDocumentField(target, plan));
  if (field?.expression.kind !== "member") return undefined;
  if (inList === undefined && plan.document?.fields.size === 0) return undefined;
  const isKnown = inList !== undefined || plan.document?.fields.has(field.expression.key) === true;
  if (!isKnown && findReference(target, plan)?.value.document === undefined) return undefined;
  return { expression: reduce(kind, field.expression), words: kind === "sum" ? "total" : kind };
}

function overResults(kind: Kind, target: string, plan: Plan): Aggregate | undefined {
  if (!/^(?:results|them|two results|numbers|values|answers|previous results)$/iu.test(target))
    return undefined;
  const results = plan.values.filter((value) => isNumeric(value.schema));
  if (results.length < 2) return undefined;
  for (const value of results) value.consumed = true;
  const items = results.map((value) => value.expression);
  if (kind === "sum" || kind === "average") {
    const sum = items.reduce((left, right) => binary(left, "+", right));
    return { expression: kind === "sum" ? sum : binary(sum, "/", literal(items.length)), words: kind };
  }
  if (kind === "count" || kind === "median" || kind === "spread")
    return { expression: reduce(kind, array(items)), words: kind };
  return { expression: call(member(name("Math"), kind), ...items), words: kind };
}

/** `average temperature`, `total of the prices`, over the newest list. */
function overRows(kind: Kind, target: string, plan: Plan): Aggregate | undefined {
  const rows = newestList(plan);
  if (rows === undefined) return undefined;
  const item = rows.schema.items ?? {};
  const text = target.replace(/\s+(?:of|for|per|in|across|among)\s+.*$/iu, "").trim();
  const key = matchProperty(text, item, "number") ?? matchProperty(singularOf(text), item, "number");
  if (key === undefined && Object.keys(item.properties ?? {}).length > 0) return undefined;
  if (isNumeric(item) || kind === "count") {
    rows.consumed = true;
    return { expression: reduce(kind, rows.expression), words: kind };
  }
  const column = key ?? lookUp(PROPERTY_WORDS, text)?.[0] ?? singularOf(text);
  if (!/^\w+$/u.test(column)) return undefined;
  rows.consumed = true;
  return {
    expression: overColumn(kind, rows.expression, columnOf(plan, rows, column)),
    words: kind === "spread" ? `${column} difference` : `${kind} ${column}`,
  };
}

function singularOf(text: string): string {
  return text.replace(/ies$/u, "y").replace(/(?<!s)s$/u, "");
}

/** An aggregate of one column of rows. */
export function overColumn(kind: Kind, rows: Expression, column: Expression): Expression {
  return reduce(kind, call(useHelper("numbersIn"), rows, column));
}

/** The newest result that is a list. */
export function newestList(plan: Plan): Value | undefined {
  return plan.values.findLast((value) => hasType(value.schema, "array"));
}

function reduce(kind: Kind, list: Expression): Expression {
  const sum = method(
    list,
    "reduce",
    arrow(["sum: number", "value: number"], binary(name("sum"), "+", name("value"))),
    literal(0),
  );
  switch (kind) {
    case "sum":
      return sum;
    case "average":
      return call(useHelper("average"), list);
    case "median":
      return call(useHelper("median"), list);
    case "count":
      return member(list, "length");
    case "spread":
      return binary(reduce("max", list), "-", reduce("min", list));
    case "max":
    case "min":
      return call(member(name("Math"), kind), spread(list));
  }
}
