import type { JsonObject, JsonValue } from "@cem/core";
import type { Scope } from "../expressions/expression.ts";

/** What the expressions of a list's steps find. The results of its steps are added as they come. */
export interface ListScope {
  variables: JsonObject;
  steps: JsonObject;
  errors: JsonObject;
  run: JsonObject;
  /** Of the loop around. */
  loop: { item?: JsonValue; index?: number; previous?: JsonValue };
}

/** The scope of the lists within a step: it sees what is outside, and adds nothing to it. */
export function innerScope(outer: ListScope, loop: ListScope["loop"] = outer.loop): ListScope {
  return { ...outer, steps: { ...outer.steps }, errors: { ...outer.errors }, loop };
}

/** What the expressions of one step find. */
export function scopeOf({ variables, steps, errors, run, loop }: ListScope, step: JsonObject): Scope {
  return { variables, steps, errors, run, step, ...loop };
}
