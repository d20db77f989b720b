import { CemError } from "@cem/core";
import type { JsonSchema, JsonValue } from "@cem/core";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { ArgumentValidator } from "./argument-validation.ts";
import type { ToolSchema } from "./define-tool.ts";

const TARGET = "draft-2020-12";
/** What zod is to write for types that JSON Schema can't say, such as Date, instead of failing. */
const LIBRARY_OPTIONS = { unrepresentable: "any" };

/** What is wrong with a value, said of its first place that is wrong. */
export interface SchemaViolation {
  argument: string;
  message: string;
}

export type CheckedValue = { ok: true; value: unknown } | { ok: false; violation: SchemaViolation };

export function isStandardSchema(schema: ToolSchema): schema is StandardSchemaV1 {
  return "~standard" in schema;
}

/** Checks a value; what comes back is the schema's own output. */
export async function checkValue(
  schema: ToolSchema,
  value: unknown,
  validator: ArgumentValidator,
): Promise<CheckedValue> {
  if (!isStandardSchema(schema)) {
    const check = await validator.prepare(schema);
    const violation = check.validated ? check.check(value as JsonValue) : undefined;
    return violation === undefined ? { ok: true, value } : { ok: false, violation };
  }
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const [issue] = result.issues;
  const argument = (issue?.path ?? []).map(toKey).reduce(join, "");
  const message = (issue?.message ?? "is not valid").replace(/\.$/, "");
  return {
    ok: false,
    violation: { argument, message: argument === "" ? message : `\`${argument}\`: ${message}` },
  };
}

/** A schema as JSON Schema, as far as its library can say it. */
export function toJsonSchema(
  schema: ToolSchema | undefined,
  side: "input" | "output",
): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) return undefined;
  try {
    const { $schema: _, ...found } = jsonSchema[side]({ target: TARGET, libraryOptions: LIBRARY_OPTIONS });
    return found;
  } catch {
    return undefined;
  }
}

/** @throws CemError `TOOL_INVALID` when the input is anything but an object. */
export function assertObjectInput(name: string, { type }: JsonSchema): void {
  if (type === undefined || type === "object") return;
  throw new CemError(
    "TOOL_INVALID",
    `The input of ${name} is of type ${JSON.stringify(type)}. A tool takes one object: wrap it, as in { value: … }.`,
    { details: { tool: name } },
  );
}

function toKey(part: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof part === "object" ? part.key : part);
}

function join(path: string, part: string): string {
  if (path === "") return part;
  return /^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`;
}
