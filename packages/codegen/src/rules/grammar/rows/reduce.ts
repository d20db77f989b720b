import { useHelper } from "../../program/helpers.ts";
import {
  arrow,
  binary,
  call,
  type Expression,
  literal,
  member,
  method,
  name,
  spread,
} from "../../program/expression.ts";
import type { AggregateKind } from "./selection.ts";

/** An aggregate of one column of rows. */
export function overColumn(kind: AggregateKind, rows: Expression, column: Expression): Expression {
  return reduceList(kind, call(useHelper("numbersIn"), rows, column));
}

/** One number made of a list of numbers. */
export function reduceList(kind: AggregateKind, list: Expression): Expression {
  switch (kind) {
    case "sum": {
      const add = arrow(["sum: number", "value: number"], binary(name("sum"), "+", name("value")));
      return method(list, "reduce", add, literal(0));
    }
    case "average":
    case "median":
      return call(useHelper(kind), list);
    case "count":
      return member(list, "length");
    case "spread":
      return binary(reduceList("max", list), "-", reduceList("min", list));
    case "max":
    case "min":
      return call(member(name("Math"), kind), spread(list));
  }
}
