import { CemError, findTool, parseJson, printCall, printImport } from "@cem/core";
import type { CatalogSnapshot, JsonObject, JsonSchema, JsonValue, ToolDefinition } from "@cem/core";

/**
 * Generates the program that makes one call.
 *
 * @param target - `server.tool`.
 * @param words - `name=value`, or one JSON object.
 * @throws CemError `USAGE`, `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND`.
 */
export function callProgram(target: string, words: readonly string[], catalog: CatalogSnapshot): string {
  const tool = toolOf(target, catalog);
  const args = readArguments(words, tool);
  return `${printImport(tool)}\nreturn ${printCall(tool, args)};`;
}

function toolOf(target: string, catalog: CatalogSnapshot): ToolDefinition {
  // A server's name may contain dots.
  const named = catalog.servers.filter(({ name }) => target.startsWith(`${name}.`));
  const dot = named.length === 0 ? target.indexOf(".") : Math.max(...named.map(({ name }) => name.length));
  if (dot < 1 || dot === target.length - 1)
    throw new CemError(
      "USAGE",
      `"${target}" is not the name of a tool. A call looks like: cem call weather.get_weather location=Oslo`,
      { details: { target } },
    );
  return findTool({ server: target.slice(0, dot), tool: target.slice(dot + 1) }, catalog);
}

/**
 * Parses the arguments of a call from command-line words. A value is parsed as JSON if the parameter accepts the result,
 * and is kept as text if the parameter only accepts text. The tool validates it when it is called.
 *
 * @param words - `name=value`, or one JSON object.
 * @throws CemError `USAGE`
 */
export function readArguments(words: readonly string[], tool: Pick<ToolDefinition, "inputSchema">) {
  const [first = ""] = words;
  if (words.length === 1 && first.trimStart().startsWith("{")) return readObject(first);
  const { properties = {} } = tool.inputSchema as { properties?: Record<string, JsonSchema> };
  const entries = words.map((word): [string, JsonValue] => {
    const at = word.indexOf("=");
    if (at < 1) throw misuse(`"${word}" is not an argument. Write name=value, or one JSON object.`);
    const [name, text] = [word.slice(0, at), word.slice(at + 1)];
    const types = typesIn(Object.hasOwn(properties, name) ? properties[name] : undefined);
    const value = parseJson(text) as JsonValue | undefined;
    const isText = types.includes("string") && !types.includes(typeOf(value));
    return [name, value === undefined || isText ? text : value];
  });
  const twice = entries.find(([name], at) => entries.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) throw misuse(`${twice[0]} is given twice.`);
  return Object.fromEntries(entries);
}

/** The JSON types that a parameter declares. */
function typesIn({ type, anyOf, oneOf }: JsonSchema = {}): unknown[] {
  const others = [anyOf, oneOf].flatMap((forms) => (Array.isArray(forms) ? (forms as JsonSchema[]) : []));
  return [type, ...others.map(typesIn)].flat(2).map((one) => (one === "integer" ? "number" : one));
}

function typeOf(value: JsonValue | undefined): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function readObject(text: string): JsonObject {
  const value = parseJson(text);
  if (value === undefined) throw misuse("The argument is not valid JSON.");
  return value as JsonObject;
}

function misuse(message: string): CemError {
  return new CemError("USAGE", message);
}
