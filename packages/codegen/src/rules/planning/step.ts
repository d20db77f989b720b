import type { ToolDefinition } from "@cem/core";
import type { StepField } from "@cem/text";
import type { Span } from "../language/token.ts";
import type { Plan } from "./plan.ts";
import type { Reading } from "./reading.ts";

/** One step of a task while it is being read. */
export interface Step {
  /** In the user's words. */
  text: string;
  span: Span;
  /** `key: value` pairs that are listed below the step. */
  fields: readonly StepField[];
  /** Items without a key that are listed below the step. */
  items: readonly string[];
  /** The tools that the step names, where it does: `using the calculator`. */
  tools?: readonly ToolDefinition[] | undefined;
  /** Whether it is the "otherwise" of a condition. */
  isOtherwise?: boolean | undefined;
}

/**
 * Reads one kind of step. Changes nothing: what is found is written by {@link Reading.lower}.
 *
 * @returns `undefined` when the step, as a whole, is not of this kind.
 * @throws Unfilled when it is, but something lacks or a word of it has no meaning.
 */
export type Production = (step: Step, plan: Plan) => Reading | undefined;
