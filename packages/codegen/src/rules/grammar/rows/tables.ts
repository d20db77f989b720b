import type { ToolDefinition } from "@cem/core";
import { stem } from "@cem/text";
import { propertiesOf } from "../../planning/value.ts";
import { plural, singular } from "../../program/names.ts";

const MAX_DESCRIPTION_CHARACTERS = 10_000;
const TABLE = /(?<![\w.])([a-z_]\w{0,60})\s*\(\s*([a-z_]\w{0,60}(?:\s*,\s*[a-z_]\w{0,60}){1,60})\s*\)/giu;

/** What a tool says about its parameters and itself. */
export function descriptionOf(tool: ToolDefinition): string {
  const parts = propertiesOf(tool.inputSchema).map(([, schema]) => schema.description ?? "");
  return [tool.description, ...parts].join(" ").slice(0, MAX_DESCRIPTION_CHARACTERS);
}

/** The tables that a tool describes as `users (id, name, email)`, with their columns. */
export function describedTables(tool: ToolDefinition): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  for (const [, table = "", columns = ""] of descriptionOf(tool).matchAll(TABLE))
    tables.set(
      table,
      columns.split(",").map((column) => column.trim()),
    );
  return tables;
}

/** The table that a noun names. */
export function findTable(noun: string, tables: Iterable<string>): string | undefined {
  const word = noun.toLowerCase();
  const all = [...tables];
  return (
    all.find((table) => table.toLowerCase() === word) ??
    all.find((table) => plural(singular(table.toLowerCase())) === plural(singular(word))) ??
    all.find((table) => stem(table.toLowerCase()) === stem(word))
  );
}
