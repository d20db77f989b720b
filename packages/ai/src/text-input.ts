import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** The JSON Schema of an object with one text, strict enough for every provider. */
export interface TextInputJsonSchema<Name extends string> {
  type: "object";
  properties: Record<Name, { type: "string"; description: string }>;
  required: Name[];
  additionalProperties: false;
  [keyword: string]: unknown;
}

/** A Standard Schema that also tells its JSON Schema, which is all that a framework needs of an input. */
export interface TextInputSchema<Name extends string> {
  readonly "~standard": StandardSchemaV1.Props<Record<Name, string>> &
    StandardJSONSchemaV1.Props<Record<Name, string>>;
}

/** Describes an object with one text, as JSON Schema. */
export function textInputJsonSchema<Name extends string>(
  name: Name,
  description: string,
): TextInputJsonSchema<Name> {
  return {
    type: "object",
    properties: { [name]: { type: "string", description } } as TextInputJsonSchema<Name>["properties"],
    required: [name],
    additionalProperties: false,
  };
}

/** Describes an object with one text, as a Standard Schema. */
export function textInputSchema<Name extends string>(name: Name, description: string): TextInputSchema<Name> {
  const jsonSchema = (): TextInputJsonSchema<Name> => textInputJsonSchema(name, description);
  return {
    "~standard": {
      version: 1,
      vendor: "cem",
      validate: (value) => validateText(name, value),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

function validateText<Name extends string>(
  name: Name,
  value: unknown,
): StandardSchemaV1.Result<Record<Name, string>> {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof text === "string") return { value: { [name]: text } as Record<Name, string> };
  return { issues: [{ message: `An object with a string "${name}" is needed.`, path: [name] }] };
}
