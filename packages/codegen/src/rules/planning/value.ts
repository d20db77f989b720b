import type { JsonSchema, ToolDefinition, UnfilledStep } from "@cem/core";
import type { Expression } from "../program/expression.ts";

export interface Value {
  name: string;
  expression: Expression;
  schema: JsonSchema;
  /** The words for it in the task: `sum`, `users`. */
  words: string;
  /** The text of the step that created it. */
  about: string;
  /** Whether a later result uses it, so that it is not a result of the task. */
  consumed: boolean;
  /** Whether it is the result of a tool that changes something, to which "it" does not refer. */
  isReceipt?: boolean | undefined;
  /** The number, if known before the program runs. */
  constant?: number | undefined;
  /** The field of a file that it was calculated from. */
  field?: string | undefined;
  /** The tool whose result may be one of several pages. */
  pageOf?: string | undefined;
  /** Whether its rows are in an order that the task asked for. */
  isSorted?: boolean | undefined;
  /** The JSON file that the program holds in memory. */
  document?: StateDocument | undefined;
}

/** A JSON file that steps read, change and save. */
export interface StateDocument {
  path: string;
  value: Value;
  isDirty: boolean;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.type === undefined) {
    if (schema.properties !== undefined) return ["object"];
    if (schema.items !== undefined) return ["array"];
    const parts = (schema.anyOf ?? []).flatMap((part) => typesOf(part));
    if (parts.length > 0) return [...new Set(parts)];
    return [...new Set(schema.enum?.map((value) => (value === null ? "null" : typeof value)))];
  }
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

export function hasType(schema: JsonSchema, ...types: readonly string[]): boolean {
  return typesOf(schema).some((type) => types.includes(type));
}

export function isNumeric(schema: JsonSchema): boolean {
  return hasType(schema, "number", "integer") && !hasType(schema, "string", "object", "array");
}

export function isRows({ schema }: Value): boolean {
  return hasType(schema, "array") && hasType(schema.items ?? {}, "object");
}

const MAX_QUOTED_CHARACTERS = 120;

export class Unfilled extends Error {
  readonly step: UnfilledStep;

  constructor(step: UnfilledStep) {
    super(step.hint);
    this.step = step;
  }
}

/** Creates a refusal with the closest tool. */
export function refuse(step: UnfilledStep, tool?: ToolDefinition): Unfilled {
  return new Unfilled(
    tool === undefined ? step : { ...step, tool: idOf(tool), hint: `${step.hint}\n${nearest(tool)}` },
  );
}

export function idOf({ server, name }: ToolDefinition): string {
  return `${server}.${name}`;
}

function nearest({ server, signature }: ToolDefinition): string {
  const call = signature.replace(/\)\s*:[^]*$/u, ")");
  return `The nearest tool is ${server}.${call.length > 200 ? `${call.slice(0, 200)}…` : call}.`;
}

export function cite(text: string): string {
  const plain = text.replaceAll(/\s+/gu, " ").trim();
  return `"${plain.length > MAX_QUOTED_CHARACTERS ? `${plain.slice(0, MAX_QUOTED_CHARACTERS)}…` : plain}"`;
}
