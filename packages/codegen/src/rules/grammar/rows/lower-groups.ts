import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import type { Value } from "../../planning/value.ts";
import { array, arrow, binary, call, index, literal, method, name } from "../../program/expression.ts";
import { type Column, keyOf } from "./columns.ts";
import { next, nounOf } from "./lower-value.ts";
import { overColumn } from "./reduce.ts";
import type { Selection } from "./selection.ts";

export function groupRows(plan: Plan, rows: Value, { aggregate, largest }: Selection, column: Column): Value {
  const noun = nounOf(rows);
  const key = keyOf(plan, rows, column);
  const by = column.words.replaceAll("_", " ");
  if (aggregate === undefined) {
    const groups = next(plan, rows, call(useHelper("groupBy"), rows.expression, key), `${noun} by ${by}`, {
      type: "object",
    });
    groups.group = { rows, column: column.words };
    return groups;
  }
  if (aggregate.kind === "count") {
    const counts = call(useHelper("countBy"), rows.expression, key);
    if (largest === undefined) return next(plan, rows, counts, `${noun} per ${by}`, { type: "object" });
    const [left, right] = largest === "high" ? ["b", "a"] : ["a", "b"];
    const order = arrow(["[, a]", "[, b]"], binary(name(left ?? "a"), "-", name(right ?? "b")));
    const sorted = method(method(name("Object"), "entries", counts), "toSorted", order);
    const keys = method(sorted, "map", arrow(["[key]"], name("key")));
    const first = binary(index(keys, literal(0)), "??", literal(null));
    return next(plan, rows, first, by, {});
  }
  const groups = call(useHelper("groupBy"), rows.expression, key);
  const summed =
    aggregate.kind === "statistics" || aggregate.kind === "percent" || aggregate.column === undefined
      ? call(useHelper("statisticsOf"), name("group"))
      : overColumn(aggregate.kind, name("group"), keyOf(plan, rows, aggregate.column));
  const mapped = method(
    method(name("Object"), "entries", groups),
    "map",
    arrow(["[key, group]"], array([name("key"), summed])),
  );
  const words = `${aggregate.kind} ${aggregate.column?.words ?? ""} by ${by}`;
  return next(plan, rows, method(name("Object"), "fromEntries", mapped), words, { type: "object" });
}
