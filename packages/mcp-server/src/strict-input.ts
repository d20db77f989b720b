import { nearest } from "@cem/text";
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { isObject } from "./is-object.ts";

/** Values beyond this number are not named. */
const MAX_NAMED_VALUES = 20;

type Properties = Readonly<Record<string, unknown>>;

/**
 * A tool's input schema whose errors say what is right: unknown arguments are refused with the names that there are, and
 * a value outside an enum with the values. An object of unnamed properties takes any.
 */
export function strictInput(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  let properties: Properties | undefined | null = null;
  const validate: typeof standard.validate = (input, options) => {
    if (properties === null) properties = closedProperties(standard);
    const problems = properties === undefined ? [] : problemsOf(input, properties);
    if (problems.length > 0) return { issues: problems.map((message) => ({ message })) };
    return standard.validate(input, options);
  };
  return { "~standard": { ...standard, validate } };
}

/** The properties of a schema that names all of them; `undefined` for another one. */
function closedProperties({ jsonSchema }: StandardSchemaWithJSON["~standard"]): Properties | undefined {
  const {
    properties,
    additionalProperties = false,
    patternProperties,
    ...others
  } = jsonSchema.input({
    target: "draft-2020-12",
  });
  const isComposed = ["allOf", "anyOf", "oneOf", "$ref", "if"].some((keyword) => keyword in others);
  const isClosed = additionalProperties === false && patternProperties === undefined && !isComposed;
  return isClosed && isObject(properties) ? properties : undefined;
}

function problemsOf(input: unknown, properties: Properties): string[] {
  if (!isObject(input)) return [];
  return Object.entries(input).flatMap(([name, value]) => {
    if (!Object.hasOwn(properties, name)) return [unknownArgument(name, Object.keys(properties))];
    const { enum: allowed } = isObject(properties[name]) ? properties[name] : {};
    return Array.isArray(allowed) && !allowed.includes(value) ? [wrongValue(name, value, allowed)] : [];
  });
}

function unknownArgument(name: string, names: readonly string[]): string {
  const [near] = nearest(name, names);
  const hint = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
  const all = names.length === 0 ? "It takes no arguments." : `It takes: ${names.join(", ")}.`;
  return `There is no argument ${JSON.stringify(name)}.${hint} ${all}`;
}

function wrongValue(name: string, value: unknown, allowed: readonly unknown[]): string {
  const named = allowed.slice(0, MAX_NAMED_VALUES).map((one) => JSON.stringify(one));
  const more = allowed.length > named.length ? ` or one of ${allowed.length - named.length} more` : "";
  const [near] = typeof value === "string" ? nearest(value, allowed.filter(isString)) : [];
  const hint = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
  return `${name} takes ${named.join(", ")}${more}, not ${JSON.stringify(value).slice(0, 100)}.${hint}`;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
