import type { JsonSchema, JsonValue } from "@cem/core";
import type { Expression } from "../program/expression.ts";

/** A way to understand a step as a whole. Every word of the step is part of it. */
export interface Reading {
  /** What it does, in a word: `call`, `filter`, `save`. */
  kind: string;
  /** How sure it is, see {@link RANK}. The highest wins. */
  rank: number;
  /** What it gives, where that is known before it is written: the result of a tool. */
  schema?: JsonSchema | undefined;
  /** Writes it into the program. May throw `Unfilled` for what only shows then. */
  lower(): void;
}

/**
 * How sure a reading is. Fractions below 1 may be added: for what the step refers to and is there.
 *
 * - `named`: the step names the tool or gives the code (SQL) itself.
 * - `tool`: a tool whose whole name the step says, with all of its required arguments.
 * - `plain`: work on files and earlier results, in the grammar's own words.
 * - `described`: a tool that only its description fits.
 */
export const RANK = { named: 5, tool: 4, plain: 3, described: 2 } as const;

/** What words mean as a value. */
export interface Meaning {
  schema: JsonSchema;
  /** What it may be called: `sum`, `active users`. */
  words: string;
  /** The value, where it is known before the program runs. */
  constant?: JsonValue | undefined;
  /** Writes what it takes into the program, and marks earlier results as used. */
  lower(): Expression;
}
