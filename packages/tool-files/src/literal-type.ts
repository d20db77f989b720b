import { compactJson, TOO_LARGE } from "./canonical-json.ts";
import { propertyKey, quote } from "./safe-text.ts";
import { textNode, type TypeNode, unionOf } from "./type-node.ts";

/** An enum with more values is written as the types of its values. */
const MAX_LITERALS = 500;
const MAX_LITERAL_CHARACTERS = 300;

/** The union type of the values of an `enum`. */
export function enumType(values: readonly unknown[]): TypeNode {
  return unionOf([...new Set(values)].map(values.length > MAX_LITERALS ? widened : literalType));
}

/** The literal type of a value; its general type where it is long. */
export function literalType(value: unknown): TypeNode {
  const size = compactJson(value, MAX_LITERAL_CHARACTERS);
  return size === TOO_LARGE ? widened(value) : textNode(literalText(value));
}

function literalText(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" && !Number.isFinite(value)) return "number";
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "unknown";
  if (Array.isArray(value)) return `[${value.map(literalText).join(", ")}]`;
  const entries = Object.entries(value);
  if (entries.length === 0) return "{ [key: string]: never }";
  return `{ ${entries.map(([key, entry]) => `${propertyKey(key)}: ${literalText(entry)}`).join("; ")} }`;
}

function widened(value: unknown): TypeNode {
  if (Array.isArray(value)) return textNode("unknown[]");
  if (value === null) return textNode("null");
  if (typeof value === "object") return textNode("{ [key: string]: unknown }");
  return textNode(typeof value);
}
