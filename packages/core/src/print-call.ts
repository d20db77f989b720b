import { isObject, type JsonValue } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

/**
 * Writes a value as a literal. In an object literal, the key `__proto__` would set the prototype unless it is computed.
 * Quotes within strings are escaped, so they don't match.
 */
export function printLiteral(value: JsonValue | undefined): string {
  if (value === undefined) return "undefined";
  return JSON.stringify(value).replaceAll(/(?<=[{,])"__proto__":/gu, '["__proto__"]:');
}

/** Writes the import of a tool. */
export function printImport({ name, module }: Pick<ToolDefinition, "name" | "module">): string {
  return `import { ${name} } from ${JSON.stringify(module)};`;
}

/** Writes a call of a tool, with positional arguments up to the last one that is given. */
export function printCall({ name, callStyle, inputSchema }: ToolDefinition, args: JsonValue): string {
  if (callStyle !== "positional" || !isObject<JsonValue>(args)) return `await ${name}(${printLiteral(args)})`;
  const given = Object.keys(inputSchema.properties ?? {}).map((key) =>
    Object.hasOwn(args, key) ? args[key] : undefined,
  );
  const last = given.findLastIndex((value) => value !== undefined);
  const printed = given.slice(0, last + 1).map((value) => printLiteral(value));
  return `await ${name}(${printed.join(", ")})`;
}
