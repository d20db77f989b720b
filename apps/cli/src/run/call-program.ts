import { CemError, serverNotFound, toolId, toolNotFound } from "@cem/core";
import type { CatalogSnapshot, JsonObject, JsonSchema, JsonValue, ToolDefinition } from "@cem/core";
import { nearest } from "@cem/core/text";

/**
 * The program that makes one call.
 *
 * @param target - `server.tool`.
 * @param words - `name=value`, `name:=json`, or one JSON object.
 * @throws CemError `USAGE`, `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND`.
 */
export function callProgram(target: string, words: readonly string[], catalog: CatalogSnapshot): string {
  const tool = findTool(target, catalog);
  const args = readArguments(words, tool);
  return [
    `import { ${tool.name} } from ${JSON.stringify(tool.module)};`,
    `return await ${tool.name}(${passed(args, tool)});`,
  ].join("\n");
}

function findTool(target: string, { servers }: CatalogSnapshot): ToolDefinition {
  const dot = target.indexOf(".");
  if (dot < 1 || dot === target.length - 1) {
    throw new CemError(
      "USAGE",
      `"${target}" names no tool. A call looks like: cem call weather.get_weather location=Oslo`,
      {
        details: { target },
      },
    );
  }
  const [name, wanted] = [target.slice(0, dot), target.slice(dot + 1)];
  const server = servers.find((one) => one.name === name);
  if (server === undefined) {
    const known = servers.map((one) => one.name);
    throw serverNotFound(name, { known, nearest: nearest(name, known)[0] });
  }
  const tool =
    server.tools.find((one) => one.name === wanted) ??
    server.tools.find(({ originalName }) => originalName === wanted);
  if (tool !== undefined) return tool;
  const known = server.tools.map((one) => one.name);
  throw toolNotFound({ server: name, tool: wanted }, { known, nearest: nearest(wanted, known)[0] });
}

function passed(args: JsonObject, { callStyle, inputSchema }: ToolDefinition): string {
  if (callStyle === "object") return JSON.stringify(args);
  const names = Object.keys(inputSchema["properties"] ?? {});
  const last = names.findLastIndex((name) => args[name] !== undefined);
  // JSON.stringify(undefined) is undefined, which is written as such.
  return names
    .slice(0, last + 1)
    .map((name) => JSON.stringify(args[name]))
    .join(", ");
}

/**
 * Reads the arguments of a call as words of a command line. A value is read as the tool's schema wants it.
 *
 * @param words - `name=value`, `name:=json`, or one JSON object.
 * @throws CemError `USAGE`
 */
export function readArguments(words: readonly string[], tool: ToolDefinition): JsonObject {
  const [first = ""] = words;
  if (words.length === 1 && first.trimStart().startsWith("{")) return readObject(first);
  const args: JsonObject = {};
  for (const word of words) {
    const { name, text, isJson } = split(word);
    if (Object.hasOwn(args, name)) throw misuse(`${name} is given twice.`, { argument: name });
    // A name of an object's own prototype is a name like any other.
    Object.defineProperty(args, name, {
      value: isJson ? readJson(name, text) : readValue(name, text, schemaOf(name, tool)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return args;
}

function split(word: string): { name: string; text: string; isJson: boolean } {
  const at = word.indexOf("=");
  const isJson = word[at - 1] === ":";
  const name = word.slice(0, isJson ? at - 1 : at);
  if (at < 1 || name === "") {
    throw misuse(`"${word}" is no argument: it looks like name=value, name:=json, or is one JSON object.`, {
      argument: word,
    });
  }
  return { name, text: word.slice(at + 1), isJson };
}

/** The schema of one parameter. */
function schemaOf(name: string, tool: ToolDefinition): JsonSchema {
  const { properties = {}, additionalProperties } = tool.inputSchema as {
    properties?: Record<string, JsonSchema>;
    additionalProperties?: unknown;
  };
  const found = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(properties);
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (isOpen || (known.length === 0 && additionalProperties !== false)) return {};
  const [meant] = nearest(name, known);
  const has = known.length === 0 ? "It has none." : `It has ${known.join(", ")}.`;
  throw misuse(
    `${toolId(tool)} has no parameter ${name}. ${meant === undefined ? has : `Did you mean ${meant}?`}`,
    { argument: name, known },
  );
}

function readValue(name: string, text: string, schema: JsonSchema): JsonValue {
  const types = typesOf(schema);
  if (types.length === 0) return guess(text);
  const value = types.includes("string") && types.length === 1 ? text : guess(text);
  if (types.some((type) => isOfType(value, type))) return value;
  if (types.includes("string")) return text;
  throw misuse(`${name} is ${types.map(described).join(" or ")}, and "${text}" is none.`, { argument: name });
}

function typesOf({ type, enum: values, anyOf, oneOf }: JsonSchema): string[] {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  if (Array.isArray(values)) return [...new Set(values.map((value) => typeof value))];
  const either = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  const all = either.map((one) => typesOf(one as JsonSchema));
  // One that may be anything leaves it open.
  return all.some(({ length }) => length === 0) ? [] : all.flat();
}

function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function described(type: string): string {
  return /^[aeiou]/u.test(type) ? `an ${type}` : type === "null" ? type : `a ${type}`;
}

/** JSON where the text is some, else the text. */
function guess(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function readJson(name: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw misuse(`${name} is no JSON: ${(error as Error).message}.`, { argument: name });
  }
}

function readObject(text: string): JsonObject {
  const value = readJson("The argument", text);
  return value as JsonObject;
}

function misuse(message: string, details: Record<string, unknown>): CemError {
  return new CemError("USAGE", message, { details });
}
