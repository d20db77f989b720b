import type { KnownTool } from "@cem/bridge";
import { isObject, readAnnotations, type JsonObject, type JsonSchema, type JsonValue } from "@cem/core";
import { isServerRequest } from "./server-request-definitions.ts";

const MAX_NAME_CHARACTERS = 256;
const MAX_DEFINITION_BYTES = 1024 * 1024;
const ANY_ARGUMENTS: JsonSchema = { type: "object" };

/** A tool as its server defines it. */
export interface RemoteTool extends Omit<KnownTool, "sandboxed"> {
  title?: string | undefined;
  description: string;
  inputSchema: JsonSchema;
  /** The definition as the server sent it. */
  definition: JsonObject;
}

/** A tool that can't be offered, with the reason as a clause. */
export interface LeftOutTool {
  name: string;
  reason: string;
}

/**
 * Reads tool definitions one by one, so that an invalid one does not affect the others.
 *
 * @param checkHeaders - Leaves out tools that declare HTTP headers for arguments in an invalid way.
 */
export function readToolDefinitions(items: readonly JsonValue[], checkHeaders = false) {
  const tools = new Map<string, RemoteTool>();
  const leftOut: LeftOutTool[] = [];
  items.forEach((item, index) => {
    const result = readTool(item, index, checkHeaders);
    if ("reason" in result) leftOut.push(result);
    else if (tools.has(result.name))
      leftOut.push({ name: result.name, reason: "another tool has this name" });
    else tools.set(result.name, result);
  });
  return { tools: [...tools.values()], leftOut };
}

function readTool(item: JsonValue, index: number, checkHeaders: boolean): RemoteTool | LeftOutTool {
  if (!isObject(item)) return { name: `#${index + 1}`, reason: "the definition is not an object" };
  const name = item["name"];
  if (typeof name !== "string" || name === "") return { name: `#${index + 1}`, reason: "it has no name" };
  if (isServerRequest(name))
    return { name, reason: "its name is reserved for requests about resources and prompts" };
  if (name.length > MAX_NAME_CHARACTERS) {
    const reason = `its name is longer than ${MAX_NAME_CHARACTERS} characters`;
    return { name: `${name.slice(0, 40)}…`, reason };
  }
  try {
    return readNamedTool(name, item, checkHeaders);
  } catch {
    // JSON can be nested deeper than the call stack allows.
    return { name, reason: "its definition is nested too deeply" };
  }
}

function readNamedTool(name: string, item: JsonObject, checkHeaders: boolean): RemoteTool | LeftOutTool {
  const bytes = Buffer.byteLength(JSON.stringify(item));
  if (bytes > MAX_DEFINITION_BYTES)
    return { name, reason: `its definition has ${bytes} bytes, more than ${MAX_DEFINITION_BYTES}` };
  const execution = item["execution"];
  if (isObject(execution) && execution["taskSupport"] === "required") {
    return { name, reason: "it only runs as a task, which is not supported" };
  }
  const input = readInputSchema(item["inputSchema"]);
  const headerFault = checkHeaders ? findHeaderFault(input.schema) : undefined;
  if (headerFault !== undefined) return { name, reason: headerFault };

  const { title, description, outputSchema, annotations } = item;
  return {
    name,
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : "",
    inputSchema: input.schema,
    unvalidated: input.unvalidated,
    outputSchema: isObject(outputSchema) ? outputSchema : undefined,
    annotations: readAnnotations(annotations),
    keepsDigits: true,
    definition: item,
  };
}

function readInputSchema(value: JsonValue | undefined): { schema: JsonSchema; unvalidated?: string } {
  if (value === undefined || value === null) {
    return { schema: ANY_ARGUMENTS, unvalidated: "the server gave no inputSchema" };
  }
  if (!isObject(value)) {
    const kind = Array.isArray(value) ? "a list" : `a ${typeof value}`;
    return { schema: ANY_ARGUMENTS, unvalidated: `its inputSchema is ${kind}, not an object` };
  }
  const type = value["type"];
  if (type === undefined || type === "object") return { schema: value };
  return {
    schema: ANY_ARGUMENTS,
    unvalidated: `its inputSchema asks for ${JSON.stringify(type).slice(0, 60)}, but arguments are always an object`,
  };
}

const KEY = "x-mcp-header";
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ALLOWED_TYPES = new Set<unknown>(["string", "integer", "boolean"]);
/** Keywords whose values are data, not subschemas: a key `x-mcp-header` in them declares nothing. */
const DATA_KEYWORDS = new Set(["default", "const", "enum", "examples"]);

/**
 * Checks the HTTP headers that a tool declares for its arguments (`x-mcp-header`, protocol version
 * 2026-07-28). The specification requires clients to leave out a tool whose declarations are invalid.
 *
 * @returns the reason, as a clause, or `undefined` when the declarations are valid.
 */
function findHeaderFault(inputSchema: JsonSchema): string | undefined {
  const names = new Set<string>();

  /** @param keyword - The keyword that holds the schema; "" for a property of an object. */
  const visit = (schema: unknown, keyword: string): string | undefined => {
    if (typeof schema !== "object" || schema === null) return undefined;
    if (KEY in schema) {
      if (keyword !== "") return `it declares a header under "${keyword}", where none may be`;
      const name: unknown = Reflect.get(schema, KEY);
      if (typeof name !== "string" || !HEADER_NAME.test(name))
        return "it declares a header without a valid name";
      if (!ALLOWED_TYPES.has(Reflect.get(schema, "type"))) {
        return `it declares the header "${name}" for a value that is not a string, integer or boolean`;
      }
      if (names.has(name.toLowerCase())) return `it declares the header "${name}" twice`;
      names.add(name.toLowerCase());
    }
    for (const [key, value] of Object.entries(schema)) {
      if (DATA_KEYWORDS.has(key)) continue;
      const isMap = key === "properties" && isObject(value);
      const parts = isMap ? Object.values(value) : [value];
      const below = isMap ? keyword : keyword || key;
      for (const part of parts) {
        const fault = visit(part, below);
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  };

  return KEY in inputSchema ? "it declares a header for all arguments at once" : visit(inputSchema, "");
}
