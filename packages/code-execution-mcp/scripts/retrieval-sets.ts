import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ToolDefinition } from "@cem/core";
import type { RawToolDefinition } from "@cem/tool-files";
import { toolsOf } from "./tokens/tools-of.ts";

/** A task with the tools that it is labelled with, as `server/tool`. */
export interface LabelledQuery {
  query: string;
  gold: string[];
  /** Of each group one tool is needed. Default: each labelled tool is. */
  groups?: string[][];
}

/** A catalog and the tasks for it. */
export interface RetrievalSet {
  name: string;
  /** The tools by `server/tool`. */
  byId: Map<string, ToolDefinition>;
  queries: LabelledQuery[];
}

/** Reads every folder of a folder that has a tools.jsonl and this file of queries. */
export function* readSets(folder: string, queriesFile: string): Generator<RetrievalSet> {
  for (const name of readdirSync(folder).toSorted()) {
    const file = (of: string): string => path.join(folder, name, of);
    if (!existsSync(file("tools.jsonl")) || !existsSync(file(queriesFile))) continue;
    // Behind a bar stands what a set says about its own sentence.
    const queries = readLines<LabelledQuery>(file(queriesFile)).map((one) => ({
      ...one,
      query: one.query.replace(/\s\|\s[a-z-]+$/u, ""),
    }));
    yield { name, byId: readCatalog(file("tools.jsonl")), queries };
  }
}

/** The name of a tool in a set. */
export function idOf({ server, name, originalName = name }: ToolDefinition): string {
  return `${server}/${originalName}`;
}

interface ToolLine {
  server: string;
  tool: string;
  description?: string;
  input_schema?: object;
}

function readCatalog(file: string): Map<string, ToolDefinition> {
  const byServer = Map.groupBy(readLines<ToolLine>(file), ({ server }) => server);
  const tools = [...byServer].flatMap(([server, lines]) =>
    toolsOf(
      server,
      lines.map(
        ({ tool, description = "", input_schema: inputSchema = { type: "object" } }): RawToolDefinition => ({
          name: tool,
          description,
          inputSchema,
        }),
      ),
    ),
  );
  return new Map(tools.map((tool) => [idOf(tool), tool]));
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
