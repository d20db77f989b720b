import * as z from "zod/mini";
import { toSnakeCase } from "./schema/shape.ts";
import { configSchema } from "./schema/schema.ts";

const SCHEMA_URI = "http://json-schema.org/draft-07/schema#";

type Node = {
  [keyword: string]: unknown;
  properties?: Record<string, Node> | undefined;
  required?: string[] | undefined;
  type?: unknown;
};

/** Returns the JSON Schema of config.yaml, in draft 7, which editors support best. */
export function configJsonSchema(): Record<string, unknown> {
  const generated = z.toJSONSchema(configSchema, { io: "input", target: "draft-7", unrepresentable: "any" });
  const root = toYamlNames(generated as Node);
  const properties = { ...root.properties };
  const servers = properties["mcp_servers"];
  if (servers !== undefined)
    properties["mcpServers"] = { ...servers, description: "The same as mcp_servers." };
  return {
    $schema: SCHEMA_URI,
    title: "Code Execution MCP",
    description: "Settings of Code Execution MCP, as in config.yaml.",
    ...root,
    properties,
  };
}

/** Renames properties to their names in YAML and allows empty sections, at every depth. */
function toYamlNames(node: Node): Node {
  const copy: Node = Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => [
      keyword,
      keyword === "default" ? value : mapNodes(value),
    ]),
  );
  // A property may be called `required` too.
  if (Array.isArray(copy.required)) copy.required = copy.required.map(toSnakeCase);
  if (copy.properties === undefined) return copy;
  copy.properties = Object.fromEntries(
    Object.entries(copy.properties).map(([key, child]) => {
      const name = toSnakeCase(key);
      return [name, Array.isArray(copy.required) && copy.required.includes(name) ? child : nullable(child)];
    }),
  );
  return copy;
}

function mapNodes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapNodes);
  return typeof value === "object" && value !== null ? toYamlNames(value as Node) : value;
}

/** Allows null where a key without a value counts as unset. */
function nullable(node: Node): Node {
  const { default: standard, ...rest } = node;
  const isSection = node.properties !== undefined;
  const kept = isSection ? rest : node;
  const unset = isSection || (standard === undefined && node["enum"] === undefined);
  return unset && typeof node.type === "string" ? { ...kept, type: [node.type, "null"] } : kept;
}
