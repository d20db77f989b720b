import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { enumOf, type Parameter, readParameters, type Role } from "./parameters.ts";

/** What stands in an example for a value of a role. */
const VALUES: Partial<Record<Role, string>> = {
  place: '"Oslo"',
  path: '"notes.txt"',
  email: '"ada@example.com"',
  url: '"https://example.com/"',
  date: "2026-01-31",
  sql: '"SELECT 1"',
  expression: '"1 + 1"',
  boolean: "true",
  number: "1",
};

/** An order for a tool with a value for each of its required parameters: `Call get_weather with location "Oslo"`. */
export function exampleOrder(tool: ToolDefinition): string {
  const required = readParameters(tool).filter(({ isRequired }) => isRequired);
  const values = required.map(
    (parameter) => `${splitWords(parameter.name).join(" ")} ${exampleOf(parameter)}`,
  );
  return `Call ${tool.name}${values.length === 0 ? "" : ` with ${values.join(" and ")}`}`;
}

function exampleOf({ role, schema, words }: Parameter): string {
  const [allowed] = enumOf(schema);
  const known = allowed ?? schema.default ?? exampleIn(schema);
  if (typeof known === "string") return JSON.stringify(known);
  if (typeof known === "number" || typeof known === "boolean") return String(known);
  if (role === "path" && words.some((word) => /^(?:repo|repository|directory|folder|dir)$/u.test(word)))
    return '"."';
  return VALUES[role] ?? JSON.stringify(words.join(" "));
}

/** `Name of a city: \`San Francisco\`` gives San Francisco. */
function exampleIn({ examples, description = "" }: JsonSchema & { examples?: unknown }): unknown {
  const [first] = Array.isArray(examples) ? (examples as unknown[]) : [];
  return first ?? /`([^`\n]{1,60})`/u.exec(description)?.[1];
}
