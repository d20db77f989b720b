import type { JsonSchema } from "@cem/core";

const KEY = "x-mcp-header";
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ALLOWED_TYPES = new Set<unknown>(["string", "integer", "boolean"]);
/** Keywords whose values are data, not subschemas: a key `x-mcp-header` in them declares nothing. */
const DATA_KEYWORDS = new Set(["default", "const", "enum", "examples"]);

/**
 * Finds what is wrong with the HTTP headers that a tool declares for its arguments (`x-mcp-header`, protocol version
 * 2026-07-28). The specification requires clients to leave out a tool whose declarations are invalid.
 *
 * @returns the reason, as a clause, or `undefined` when the declarations are valid.
 */
export function findHeaderFault(inputSchema: JsonSchema): string | undefined {
  const names = new Set<string>();

  const visitProperties = (schema: object): string | undefined => {
    for (const [keyword, value] of Object.entries(schema)) {
      if (typeof value !== "object" || value === null || DATA_KEYWORDS.has(keyword)) continue;
      const fault =
        keyword === "properties"
          ? firstFault(Object.values(value), (child) => visitProperty(child))
          : declaresAnywhere(value)
            ? `it declares a header under "${keyword}", where none may be`
            : undefined;
      if (fault !== undefined) return fault;
    }
    return undefined;
  };

  const visitProperty = (schema: unknown): string | undefined => {
    if (typeof schema !== "object" || schema === null) return undefined;
    if (KEY in schema) {
      const name: unknown = Reflect.get(schema, KEY);
      if (typeof name !== "string" || !HEADER_NAME.test(name))
        return "it declares a header without a valid name";
      if (!ALLOWED_TYPES.has(Reflect.get(schema, "type"))) {
        return `it declares the header "${name}" for a value that is not a string, integer or boolean`;
      }
      if (names.has(name.toLowerCase())) return `it declares the header "${name}" twice`;
      names.add(name.toLowerCase());
    }
    return visitProperties(schema);
  };

  if (KEY in inputSchema) return "it declares a header for all arguments at once";
  return visitProperties(inputSchema);
}

function declaresAnywhere(value: object): boolean {
  if (KEY in value) return true;
  return Object.entries(value).some(
    ([key, child]) =>
      typeof child === "object" && child !== null && !DATA_KEYWORDS.has(key) && declaresAnywhere(child),
  );
}

function firstFault(values: unknown[], find: (value: unknown) => string | undefined): string | undefined {
  for (const value of values) {
    const fault = find(value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
