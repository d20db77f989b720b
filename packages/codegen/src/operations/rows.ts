import type { JsonSchema } from "@cem/core";
import type { Plan } from "../planning/plan.ts";
import { matchProperty } from "../planning/references.ts";
import { hasType, isNumeric, type Value } from "../planning/value.ts";
import {
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
} from "../program/expression.ts";
import { camelCase, plural, singular } from "../program/names.ts";
import type { RowFilter, RowSelection } from "../reading/row-selection.ts";
import { overColumn } from "./aggregate.ts";
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
    const key = columnOf(current, field);
    const compared = call(
      useHelper("compare"),
      member(name(first ?? "a"), key),
      member(name(second ?? "b"), key),
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
  return selection.columns === undefined ? current : pickColumns(plan, current, selection.columns);
}

function pickColumns(plan: Plan, rows: Value, columns: readonly string[]): Value {
  const row = itemName(rows.words);
  const [only] = columns;
  const item = rows.schema.items ?? {};
  const cells = columns.map((field) => ({
    key: columnOf(rows, field),
    value: member(name(row), columnOf(rows, field)),
  }));
  const body =
    columns.length === 1 && only !== undefined ? member(name(row), columnOf(rows, only)) : object(cells);
  rows.consumed = true;
  return plan.declare(method(rows.expression, "map", arrow([row], body)), {
    words:
      columns.length === 1 && only !== undefined
        ? plural(only.replaceAll("_", " "))
        : `${rows.words} details`,
    schema: {
      type: "array",
      items:
        columns.length === 1 && only !== undefined
          ? (item.properties?.[columnOf(rows, only)] ?? {})
          : { type: "object" },
    },
  });
}

/** What one of them is called inside a function: `users` gives `user`. */
export function itemName(words: string): string {
  const last = words.split(" ").at(-1) ?? "";
  const one = camelCase(singular(last));
  return one === "" || one === camelCase(words) ? "item" : one;
}

function next(plan: Plan, from: Value, expression: Expression, words: string): Value {
  from.consumed = true;
  return plan.declare(expression, { words, schema: from.schema });
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
  const tests = filters.map((filter) => testOf(name(item), filter, rows));
  const [first = literal(true), ...more] = tests;
  const test = more.reduce((left, right) => binary(left, "&&", right), first);
  return next(plan, rows, method(rows.expression, "filter", arrow([item], test)), words);
}

function columnOf(rows: Value, field: string): string {
  return matchProperty(field.replaceAll("_", " "), rows.schema.items ?? {}) ?? field;
}

function testOf(row: Expression, filter: RowFilter, rows: Value): Expression {
  const { comparison, value } = filter;
  if (comparison === "matches" || filter.field === undefined) {
    return call(useHelper("matches"), row, literal(String(value).toLowerCase()));
  }
  const column = columnOf(rows, filter.field);
  const cell = member(row, column);
  const schema = (rows.schema.items ?? {}).properties?.[column] ?? {};
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

function aggregateRows(plan: Plan, rows: Value, selection: RowSelection, noun: string): Value {
  const { aggregate, groupBy } = selection;
  rows.consumed = true;
  if (aggregate?.kind === "statistics") {
    return plan.declare(call(useHelper("statisticsOf"), rows.expression), {
      words: "statistics",
      schema: { type: "object" },
    });
  }
  const counted = aggregate === undefined || aggregate.kind === "count" || aggregate.field === undefined;
  if (groupBy !== undefined) {
    const column = columnOf(rows, groupBy);
    if (aggregate === undefined) {
      const grouped = plan.declare(call(useHelper("groupBy"), rows.expression, literal(column)), {
        words: `${noun} by ${groupBy.replaceAll("_", " ")}`,
        schema: { type: "object" },
      });
      grouped.group = { rows, column };
      return grouped;
    }
    if (counted)
      return plan.declare(call(useHelper("countBy"), rows.expression, literal(column)), {
        words: `${noun} per ${groupBy.replaceAll("_", " ")}`,
        schema: { type: "object" },
      });
    const groups = call(useHelper("groupBy"), rows.expression, literal(column));
    const pair = {
      kind: "array",
      items: [name("key"), overColumn(aggregate.kind, name("group"), columnOf(rows, aggregate.field ?? ""))],
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
  const column = columnOf(rows, aggregate.field ?? "");
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
