import { isObject, referredTo, type JsonObject, type JsonSchema, type JsonValue } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

/** Maximum depth of objects and lists in an example; deeper ones are empty. */
const MAX_DEPTH = 6;
/** Maximum number of values in an example, since schemas may be recursive. */
const MAX_VALUES = 64;
const MAX_TEXT_CHARACTERS = 80;
const MAX_SEARCHED_CHARACTERS = 500;
/** A value given in a description: "Name of a city: `Oslo`". */
const IN_DESCRIPTION =
  /(?::|\be\.g\.,?|\bi\.e\.,?|\bsuch as|\blike|\bfor example,?|\bfor instance,?)\s{0,3}(?:`([^`\n]{1,80})`|"([^"\n]{1,80})"|'([^'\n]{1,80})')/iu;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
/** Example values of the formats that JSON Schema defines. */
export const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
  date: "2026-06-21",
  "date-time": "2026-06-21T12:00:00Z",
  time: "12:00:00Z",
  duration: "P1D",
  email: "ada@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/**
 * Writes a call of a tool with its required arguments: `await get_weather({ location: "San Francisco" })`. The values
 * come from the schema and from its examples and descriptions, if any. They have the right types, but may violate a
 * `pattern` or a length.
 */
export function exampleCall(tool: ToolDefinition): string {
  const { name, callStyle } = tool;
  const input = exampleArguments(tool);
  if (callStyle === "positional") return `await ${name}(${Object.values(input).map(print).join(", ")})`;
  const isEmpty = Object.keys(input).length === 0;
  return `await ${name}(${isEmpty ? "" : print(input)})`;
}

/** Makes a value for each required argument. Schemas are untrusted: a keyword may hold anything. */
export function exampleArguments({ inputSchema }: Pick<ToolDefinition, "inputSchema">): JsonObject {
  let values = 0;

  /** Follows references within the schema. */
  const resolve = (given: unknown): JsonSchema | undefined => {
    let schema = given;
    for (let step = 0; step < MAX_DEPTH && isObject<JsonValue>(schema); step++) {
      const { $ref: reference } = schema;
      if (typeof reference !== "string") return schema;
      schema = referredTo(inputSchema, reference);
    }
    return undefined;
  };

  /** An object with the required properties. */
  const objectOf = ({ properties, required }: JsonSchema, depth: number): JsonObject => {
    const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    const entries = names.map((name): [string, JsonValue] => {
      const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, valueOf(property, name, depth + 1)];
    });
    return Object.fromEntries(entries);
  };

  const listOf = (schema: JsonSchema, name: string, depth: number): JsonValue[] => {
    const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 1;
    const count = Math.min(Math.max(1, least), MAX_DEPTH);
    const { prefixItems: first } = schema;
    if (Array.isArray(first) && first.length > 0)
      return first.slice(0, MAX_VALUES).map((item) => valueOf(item, singular(name), depth + 1));
    return Array.from({ length: count }, () => valueOf(schema.items, singular(name), depth + 1));
  };

  /** Merges a schema with all of its `allOf` and one alternative of each other combinator. */
  const merged = (given: unknown): JsonSchema | undefined => {
    const schema = resolve(given);
    values += 1;
    if (schema === undefined || values > MAX_VALUES) return schema;
    const alternatives = [schema.anyOf, schema["oneOf"]].flatMap((choices) => {
      const resolved = listed(choices).map(resolve);
      return resolved.find((choice) => choice !== undefined && choice.type !== "null") ?? resolved[0] ?? [];
    });
    return [...listed(schema["allOf"]), ...alternatives].reduce<JsonSchema>(
      (all, part) => together(all, merged(part) ?? {}),
      schema,
    );
  };

  const valueOf = (given: unknown, name: string, depth: number): JsonValue => {
    const schema = merged(given);
    if (schema === undefined || values > MAX_VALUES) return name;
    const stated = statedValue(schema);
    if (stated !== undefined) return stated;
    switch (typeOf(schema)) {
      case "string":
        return textFor(schema, name);
      case "integer":
      case "number":
        return numberFor(schema);
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return depth >= MAX_DEPTH ? [] : listOf(schema, name, depth);
      default:
        return depth >= MAX_DEPTH ? {} : objectOf(schema, depth);
    }
  };

  return objectOf(merged(inputSchema) ?? {}, 0);
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Merges a part into a schema. For a property of both, the part takes precedence. */
function together(schema: JsonSchema, part: JsonSchema): JsonSchema {
  const properties = { ...schema.properties, ...part.properties };
  const required = [...listed(schema.required), ...listed(part.required)] as string[];
  return { ...part, ...schema, required, ...(Object.keys(properties).length > 0 && { properties }) };
}

/** The value that a schema itself states. */
function statedValue(schema: JsonSchema): JsonValue | undefined {
  const { const: only, examples, enum: choices } = schema;
  if (only !== undefined) return only;
  const [first] = [examples, schema.default, choices].flatMap((value) => value ?? []);
  return first !== undefined && JSON.stringify(first).length <= MAX_TEXT_CHARACTERS ? first : undefined;
}

function typeOf({ type, properties, items }: JsonSchema): string {
  const first = Array.isArray(type) ? (type.find((one) => one !== "null") ?? "null") : type;
  if (typeof first === "string") return first;
  if (properties !== undefined) return "object";
  return items === undefined ? "string" : "array";
}

function textFor({ description, format }: JsonSchema, name: string): string {
  if (typeof format === "string" && Object.hasOwn(FORMAT_EXAMPLES, format))
    return FORMAT_EXAMPLES[format] ?? name;
  const said = typeof description === "string" ? description.slice(0, MAX_SEARCHED_CHARACTERS) : "";
  const found = IN_DESCRIPTION.exec(said) ?? [];
  return found.slice(1).find((value) => value !== undefined) ?? name;
}

function numberFor({ minimum, maximum, type }: JsonSchema): number {
  const least = typeof minimum === "number" ? minimum : 1;
  const value = typeof maximum === "number" ? Math.min(least, maximum) : least;
  return type === "integer" ? Math.ceil(value) : value;
}

function singular(name: string): string {
  return name.length > 2 && name.endsWith("s") && !name.endsWith("ss") ? name.slice(0, -1) : name;
}

function print(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(print).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}: ${print(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
