import { CemError, type JsonSchema, type JsonValue, type ToolDefinition } from "@cem/core";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { HostTool, ToolSchema } from "./define-tool.ts";
import type { SchemaValidator } from "./schema-validation.ts";
import { joinPath, type Subject, type Violation } from "./violation.ts";

const TARGET = "draft-2020-12";
/** Makes zod emit `{}` for types that JSON Schema can't express, such as Date, instead of failing. */
const LIBRARY_OPTIONS = { unrepresentable: "any" };

export type CheckedValue = { ok: true; value: unknown } | { ok: false; violation: Violation };

export function isStandardSchema(schema: ToolSchema): schema is StandardSchemaV1 {
  return "~standard" in schema;
}

/** Checks a value. A library's schema may change it by defaults and transformations. */
export async function checkValue(
  schema: ToolSchema,
  value: unknown,
  subject: Subject,
  validator: SchemaValidator,
): Promise<CheckedValue> {
  if (!isStandardSchema(schema)) {
    const check = await validator.prepare(schema);
    const violation = check.validated ? check.check(value as JsonValue, subject) : undefined;
    const isValid = violation === undefined || (subject === "result" && violation.unchecked === true);
    return isValid ? { ok: true, value } : { ok: false, violation };
  }
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const [issue] = result.issues;
  const keys = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  const path = keys.reduce((joined, key) => joinPath(joined, key, subject), "");
  const message = (issue?.message ?? "is not valid").replace(/\.$/, "");
  return { ok: false, violation: { path, message: path === "" ? message : `\`${path}\`: ${message}` } };
}

/** Converts a schema to JSON Schema. `undefined` when its library can't. */
export function toJsonSchema(
  schema: ToolSchema | undefined,
  direction: "input" | "output",
): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) return undefined;
  try {
    const { $schema: _, ...found } = jsonSchema[direction]({
      target: TARGET,
      libraryOptions: LIBRARY_OPTIONS,
    });
    return found;
  } catch {
    return undefined;
  }
}

/** @throws CemError `TOOL_INVALID` if the input of a tool is not an object. */
export function assertObjectInput(name: string, { type }: JsonSchema): void {
  if (type === undefined || type === "object") return;
  throw new CemError(
    "TOOL_INVALID",
    `The input of ${name} is of type ${JSON.stringify(type)}. A tool takes one object: wrap it, as in { value: … }.`,
    { details: { tool: name } },
  );
}

export const NO_INPUT: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/** A host tool as a catalog lists it. */
export type HostToolDescription = Pick<
  ToolDefinition,
  "server" | "name" | "description" | "inputSchema" | "outputSchema" | "annotations"
>;

/** @throws CemError `TOOL_INVALID` if the tool has the wrong shape, or its input is not an object. */
export function describeHostTool(server: string, name: string, tool: HostTool): HostToolDescription {
  const fault = faultOf(tool);
  if (fault !== undefined) {
    const message = `${server}.${name} ${fault}: make it with defineTool({ description, input, execute }).`;
    throw new CemError("TOOL_INVALID", message, { details: { tool: `${server}.${name}` } });
  }
  const { description, input = NO_INPUT, output, annotations, inputJsonSchema, outputJsonSchema } = tool;
  const inputSchema = inputJsonSchema ?? toJsonSchema(input, "input") ?? { type: "object" };
  assertObjectInput(`${server}.${name}`, inputSchema);
  const outputSchema = outputJsonSchema ?? toJsonSchema(output, "output");
  return { server, name, description, inputSchema, outputSchema, annotations };
}

function faultOf(tool: unknown): string | undefined {
  const { execute, input = {}, timeoutMs = 1 } = Object(tool) as Partial<Record<keyof HostTool, unknown>>;
  if (typeof execute !== "function") return "has no function `execute`";
  if (Object(input) !== input) return "has an input that is not a schema";
  return Number(timeoutMs) > 0 ? undefined : "has a timeoutMs that is not above 0";
}
