import type { JsonSchema, ToolAnnotations } from "@cem/core";
import type { HostTool } from "./define-tool.ts";
import { assertObjectInput, toJsonSchema } from "./tool-schema.ts";

/** The schema of a tool that takes no arguments. */
export const NO_INPUT: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/** A host tool as a catalog lists it. */
export interface HostToolDescription {
  server: string;
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** Absent when the result's schema is unknown. */
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
}

/**
 * Describes a host tool for a catalog.
 *
 * @throws CemError `TOOL_INVALID` when its input is not an object.
 */
export function describeHostTool(server: string, name: string, tool: HostTool): HostToolDescription {
  const { description, input, output, annotations, inputJsonSchema, outputJsonSchema } = tool;
  const inputSchema = inputJsonSchema ?? inputSchemaOf(input);
  assertObjectInput(`${server}.${name}`, inputSchema);
  const outputSchema = outputJsonSchema ?? toJsonSchema(output, "output");
  return { server, name, description, inputSchema, outputSchema, annotations };
}

function inputSchemaOf(input: HostTool["input"]): JsonSchema {
  if (input === undefined) return NO_INPUT;
  return toJsonSchema(input, "input") ?? { type: "object" };
}
