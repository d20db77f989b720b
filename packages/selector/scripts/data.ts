import { readFileSync } from "node:fs";
import type { JsonSchema, ToolDefinition } from "@cem/core";

/** A query, and the tools it needs: of each group any one will do. */
export interface Query {
  query: string;
  groups: string[][];
}

interface ToolLine {
  server: string;
  tool: string;
  title?: string;
  description?: string;
  input_schema?: JsonSchema;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
}

export function readTools(file: string): ToolDefinition[] {
  return readLines<ToolLine>(file).map((line) => ({
    server: line.server,
    name: line.tool,
    kind: "host",
    description: line.description ?? "",
    inputSchema: line.input_schema ?? line.inputSchema ?? {},
    ...(line.outputSchema && { outputSchema: line.outputSchema }),
    ...(line.title !== undefined && { annotations: { title: line.title } }),
    callStyle: "object",
    signature: "",
    module: "",
  }));
}

export function readQueries(file: string): Query[] {
  return readLines<{ query: string; gold: string[]; groups?: string[][] }>(file).map(
    ({ query, gold, groups }) => ({ query, groups: groups ?? gold.map((id) => [id]) }),
  );
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
