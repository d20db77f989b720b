import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema, ToolDefinition } from "@cem/core";

/** A query, and the tools it needs: of each group any one will do. */
export interface Query {
  id: string;
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
    outputSchema: line.outputSchema,
    annotations: line.title === undefined ? undefined : { title: line.title },
    callStyle: "object",
    signature: "",
    module: "",
  }));
}

export interface LabelledSet {
  name: string;
  tools: ToolDefinition[];
  queries: Query[];
}

/** Every folder that has tools and a file of queries of that name. */
export function* readSets(directory: string, queriesFile: string): Generator<LabelledSet> {
  const names = readdirSync(directory).toSorted();
  const isSet = (name: string) =>
    existsSync(join(directory, name, "tools.jsonl")) && existsSync(join(directory, name, queriesFile));
  const sets = names.filter(isSet);
  if (sets.length === 0) {
    fail(`No folder in ${directory} has both tools.jsonl and ${queriesFile}.`);
  }
  for (const name of sets) {
    const tools = readTools(join(directory, name, "tools.jsonl"));
    yield { name, tools, queries: readQueries(join(directory, name, queriesFile)) };
  }
}

export function requireDirectory(given: string | undefined): string {
  return (
    given ?? process.env["CEM_EVAL_DATA"] ?? fail("Say where the data is: --data DIR, or CEM_EVAL_DATA.")
  );
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function readQueries(file: string): Query[] {
  return readLines<{ id: string; query: string; gold: string[]; groups?: string[][] }>(file).map(
    ({ id, query, gold, groups }) => ({ id, query, groups: groups ?? gold.map((tool) => [tool]) }),
  );
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
