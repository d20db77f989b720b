import type { JsonSchema } from "@cem/core";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../planning/value.ts";
import {
  array,
  arrow,
  binary,
  call,
  type Expression,
  index,
  literal,
  member,
  method,
  name,
  not,
  object,
  spread,
} from "../program/expression.ts";
import { camelCase, plural, singular } from "../program/names.ts";
import type { RowFilter, RowSelection } from "../reading/row-selection.ts";
import { overColumn } from "./aggregate.ts";
import { cellOf, cellSchema, columnOf, keyOf } from "./columns.ts";
import { useHelper } from "./helpers.ts";

/** Applies what a text asks of rows, one declared result after the other. Gives the last. */
export function applySelection(plan: Plan, rows: Value, selection: RowSelection): Value {
  let current = rows;
  const noun = plural(rows.words.split(" ").at(-1) ?? "items");
  if (selection.filters.length > 0 || selection.adjectives.length > 0) {
    current = filterRows(plan, current, selection, noun);
  }
  if (selection.aggregate !== undefined || selection.groupBy !== undefined)
    return aggregateRows(plan, current, selection, noun);
  if (selection.sort !== undefined) {
    const { field, isDescending } = selection.sort;
    const [first, second] = isDescending ? ["b", "a"] : ["a", "b"];
    const key = columnOf(plan, current, field);
    const compared = call(
      useHelper("compare"),
      cellOf(name(first ?? "a"), key),
      cellOf(name(second ?? "b"), key),
    );
    current = next(
      plan,
      current,
      method(current.expression, "toSorted", arrow(["a", "b"], compared)),
      `sorted ${noun}`,
    );
  }
  if (selection.limit !== undefined) {
    const { count, fromEnd, isSingle } = selection.limit;
    if (isSingle) {
      const first = index(current.expression, literal(0));
      const declared = plan.declare(binary(first, "??", literal(null)), {
        words: selection.sort === undefined ? `first ${singular(noun)}` : `top ${singular(noun)}`,
        schema: current.schema.items ?? {},
      });
      current.consumed = true;
      return declared;
    }
    const args = fromEnd ? [literal(-count)] : [literal(0), literal(count)];
    current = next(
      plan,
      current,
      method(current.expression, "slice", ...args),
      `${fromEnd ? "last" : selection.sort === undefined && selection.limit.isTop !== true ? "first" : "top"} ${noun}`,
    );
  }
  return selection.columns === undefined ? current : pickColumns(plan, current, selection);
}

/** The values of one column, or rows of fewer columns; each once where the text says so. */
export function pickColumns(
  plan: Plan,
  rows: Value,
  selection: Pick<RowSelection, "columns" | "isDistinct">,
): Value {
  const row = itemName(rows.words);
  const columns = selection.columns ?? [];
  const cells = columns.map((field) => ({ field, column: columnOf(plan, rows, field) }));
  const [only] = cells;
  rows.consumed = true;
  if (only === undefined || cells.length > 1) {
    const entries = cells.map(({ field, column }) => ({
      key: keyOf(column) ?? field,
      value: cellOf(name(row), column),
    }));
    return plan.declare(method(rows.expression, "map", arrow([row], object(entries))), {
      words: `${rows.words} details`,
      schema: { type: "array", items: { type: "object" } },
    });
  }
  const mapped = method(rows.expression, "map", arrow([row], cellOf(name(row), only.column)));
  return plan.declare(
    selection.isDistinct === true ? array([spread({ kind: "new", callee: "Set", args: [mapped] })]) : mapped,
    {
      words: plural(only.field.replaceAll("_", " ")),
      schema: { type: "array", items: cellSchema(rows, only.column) },
    },
  );
}

/** What one of them is called inside a function: `users` gives `user`. */
export function itemName(words: string): string {
  const last = words.split(" ").at(-1) ?? "";
  const one = camelCase(singular(last));
  return one === "" || one === camelCase(words) ? "item" : one;
}

function next(plan: Plan, from: Value, expression: Expression, words: string): Value {
  from.consumed = true;
  const value = plan.declare(expression, { words, schema: from.schema });
  if (from.columns !== undefined) value.columns = from.columns;
  return value;
}

function filterRows(plan: Plan, rows: Value, selection: RowSelection, noun: string): Value {
  const row = camelCase(singular(noun)) || "row";
  const item = row === noun ? "item" : row;
  const words =
    selection.adjectives.length > 0 ? `${selection.adjectives.join(" ")} ${noun}` : `matching ${noun}`;
  const filters: RowFilter[] = [
    ...selection.adjectives.map((value): RowFilter => ({ comparison: "matches", value })),
    ...selection.filters,
  ];
  const tests = filters.map((filter) => testOf(plan, name(item), filter, rows));
  const [first = literal(true), ...more] = tests;
  const test = more.reduce((left, right) => binary(left, "&&", right), first);
  const isAlone =
    more.length === 0 &&
    first.kind === "call" &&
    first.callee.kind === "name" &&
    filters[0]?.comparison === "matches";
  const predicate =
    isAlone && first.kind === "call" && first.args.length === 1 && first.args[0]?.kind === "name"
      ? first.callee
      : arrow([item], test);
  return next(plan, rows, method(rows.expression, "filter", predicate), words);
}

function testOf(plan: Plan, row: Expression, filter: RowFilter, rows: Value): Expression {
  const [first, ...more] = [filter, ...(filter.or ?? [])].map((one) => testSingle(plan, row, one, rows));
  const test = more.reduce((left, right) => binary(left, "||", right), first ?? literal(true));
  return filter.isNegated === true ? not(test) : test;
}

const PLACES = /^(?:city|town|location|place|country|region|state|address)$/iu;

function testSingle(plan: Plan, row: Expression, filter: RowFilter, rows: Value): Expression {
  const { comparison, value } = filter;
  if (comparison === "matches") {
    const place =
      filter.isPlace === true
        ? propertiesOf(rows.schema.items ?? {}).filter(([key]) => PLACES.test(key))
        : [];
    const [only] = place;
    if (only !== undefined && place.length === 1)
      return call(useHelper("equals"), member(row, only[0]), literal(value));
    return call(predicateFor(plan, rows, String(value).toLowerCase()), row);
  }
  const column = columnOf(plan, rows, filter.field ?? "", filter);
  const cell = cellOf(row, column);
  const schema = cellSchema(rows, column);
  if (comparison === "contains" || comparison === "starts" || comparison === "ends") {
    const text = method(call("String", cell), "toLowerCase");
    const check = { contains: "includes", starts: "startsWith", ends: "endsWith" }[comparison];
    return method(text, check, literal(String(value).toLowerCase()));
  }
  if (comparison === "===" || comparison === "!==") {
    if (typeof value === "number" && isNumeric(schema)) return binary(cell, comparison, literal(value));
    const same = call(useHelper("equals"), cell, literal(value));
    return comparison === "===" ? same : not(same);
  }
  if (typeof value !== "number") return binary(call("String", cell), comparison, literal(value));
  const bound = binary(cell, comparison, literal(value));
  if (isNumeric(schema)) return bound;
  return binary(
    binary({ kind: "unary", operator: "typeof ", value: cell }, "===", literal("number")),
    "&&",
    bound,
  );
}

/** `const isActive = holds(users, "active")`, once for the rows it is about. */
function predicateFor(plan: Plan, rows: Value, word: string): Expression {
  const variable = plan.names.take(`is ${word}`, "isMatch");
  plan.add({
    kind: "const",
    name: variable,
    value: call(useHelper("holds"), rows.expression, literal(word)),
  });
  return name(variable);
}

function aggregateRows(plan: Plan, rows: Value, selection: RowSelection, noun: string): Value {
  const { aggregate, groupBy } = selection;
  rows.consumed = true;
  if (aggregate?.kind === "statistics") {
    return plan.declare(call(useHelper("statisticsOf"), rows.expression), {
      words: "statistics",
      schema: { type: "object" },
    });
  }
  const counted = aggregate === undefined || aggregate.kind === "count";
  if (!counted && aggregate.field === undefined) {
    throw new Unfilled({
      step: `${aggregate.kind} of ${rows.words}`,
      reason: "missing-argument",
      argument: "column",
      hint: `Say of which column of ${rows.words} to take the ${aggregate.kind}.`,
    });
  }
  if (groupBy !== undefined) {
    const column = columnOf(plan, rows, groupBy);
    if (aggregate === undefined) {
      const grouped = plan.declare(call(useHelper("groupBy"), rows.expression, column), {
        words: `${noun} by ${groupBy.replaceAll("_", " ")}`,
        schema: { type: "object" },
      });
      grouped.group = { rows, column: groupBy };
      return grouped;
    }
    if (counted)
      return plan.declare(call(useHelper("countBy"), rows.expression, column), {
        words: `${noun} per ${groupBy.replaceAll("_", " ")}`,
        schema: { type: "object" },
      });
    const groups = call(useHelper("groupBy"), rows.expression, column);
    const pair = {
      kind: "array",
      items: [
        name("key"),
        overColumn(aggregate.kind, name("group"), columnOf(plan, rows, aggregate.field ?? "")),
      ],
    } as const;
    const mapped = method(method(name("Object"), "entries", groups), "map", arrow(["[key, group]"], pair));
    return plan.declare(method(name("Object"), "fromEntries", mapped), {
      words: `${aggregate.kind} ${aggregate.field ?? ""} by ${groupBy}`,
      schema: { type: "object" },
    });
  }
  if (counted)
    return plan.declare(member(rows.expression, "length"), {
      words: `${singular(noun)} count`,
      schema: { type: "number" },
    });
  const column = columnOf(plan, rows, aggregate.field ?? "");
  return plan.declare(overColumn(aggregate.kind, rows.expression, column), {
    words: `${aggregate.kind} ${aggregate.field?.replaceAll("_", " ") ?? ""}`,
    schema: { type: "number" },
  });
}

/** The rows that the next step works on: the newest list, or the list in a JSON file. */
export function currentRows(plan: Plan, words: string): Value | undefined {
  const newest = plan.values.at(-1);
  const list = plan.values.findLast((value) => isRowList(value.schema));
  if (newest?.document === undefined) return list;
  const isPlainData =
    newest.document.fields.size === 0 && newest.document.isLoaded && !newest.document.isDirty;
  if (!isPlainData) return list;
  const noun =
    /\b(items|entries|records|rows|users|products|orders|people|elements)\b/iu
      .exec(words)?.[1]
      ?.toLowerCase() ?? "items";
  const isArray = method(name("Array"), "isArray", newest.expression);
  newest.consumed = true;
  return plan.declare(
    { kind: "conditional", test: isArray, yes: newest.expression, no: member(newest.expression, noun) },
    { words: noun, schema: { type: "array", items: { type: "object" } }, type: "Record<string, unknown>[]" },
  );
}

function isRowList(schema: JsonSchema): boolean {
  return hasType(schema, "array") && !hasType(schema.items ?? {}, "string", "number", "integer", "boolean");
}
