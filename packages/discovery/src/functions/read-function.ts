import type { Node } from "@babel/types";
import type { JsonSchema, ToolAnnotations } from "@cem/core";
import { createSchemaReader } from "../schemas/create-schema-reader.ts";
import { objectSchema, referenceName, typeTextOf } from "../schemas/schema-reader.ts";
import type { ModuleLoader, Scope, TypeArgument } from "../schemas/schema-reader.ts";
import { parameterTags, splitType, tagText, type DocComment } from "../source/doc-comment.ts";
import type { FunctionFacts } from "../source/module-facts.ts";
import type { SourceModule } from "../source/source-module.ts";
import { annotatedType, parseJsDocType, readParameters } from "./read-parameters.ts";
import type { FunctionNode, Parameter } from "./read-parameters.ts";

/** A schema longer than this is replaced by `{}` or `{ type: "object" }`. */
const MAX_SCHEMA_CHARACTERS = 100_000;

interface FunctionSource {
  name: string;
  node: FunctionNode;
  statement: Node;
  module: SourceModule;
  load: ModuleLoader;
  budget: { left: number };
}

export function readFunction(source: FunctionSource): FunctionFacts {
  const { name, node, statement, module, load, budget } = source;
  const comment = module.comments.of(statement);
  const scope: Scope = { module, parameters: genericsOf(node, module) };
  const input = createSchemaReader(load, budget);
  const parameters = readParameters({ node, scope, reader: input, tags: parameterTags(comment) });
  const callStyle = styleOf(parameters);
  const inputSchema = bounded(
    input.finish(callStyle === "object" ? objectInput(parameters) : positionalInput(parameters)),
  );
  const result = readResult(source, scope, comment);
  const annotations = annotationsOf(comment);
  return {
    name,
    line: statement.loc?.start.line ?? 1,
    description: describe(comment),
    inputSchema,
    outputSchema: result.schema,
    annotations,
    callStyle,
    call: `(${callStyle === "object" ? objectCall(parameters, inputSchema) : positionalCall(parameters, inputSchema)}): ${result.text}`,
    isAsync: result.text.startsWith("Promise<"),
  };
}

/** `object` for functions that take one object or nothing, as MCP tools do. */
function styleOf(parameters: readonly Parameter[]): "object" | "positional" {
  const [first, second] = parameters;
  return !first || (!second && !first.isRest && first.isObject) ? "object" : "positional";
}

function objectInput([parameter]: readonly Parameter[]): JsonSchema {
  if (!parameter) return objectSchema([], []);
  const { schema } = parameter;
  if (typeof schema["$ref"] === "string") return schema;
  if (schema.type === "object") {
    const { description: _aboutTheType, ...rest } = schema;
    return rest;
  }
  if (!schema.anyOf?.every((part) => part.type === "object")) return { type: "object" };
  const properties = new Map(schema.anyOf.flatMap((part) => Object.entries(part.properties ?? {})));
  const required = [...properties.keys()].filter((name) =>
    schema.anyOf?.every((part) => part.required?.includes(name)),
  );
  return { ...objectSchema(properties, required), anyOf: schema.anyOf };
}

function positionalInput(parameters: readonly Parameter[]): JsonSchema {
  const needed = parameters.filter(({ isOptional, isRest }) => !isOptional && !isRest);
  return objectSchema(
    parameters.map(({ name, schema, isRest }) => [name, isRest ? { ...schema, "x-rest": true } : schema]),
    needed.map(({ name }) => name),
  );
}

function objectCall([parameter]: readonly Parameter[], schema: JsonSchema): string {
  if (!parameter) return "";
  const isEmpty =
    schema.properties &&
    Object.keys(schema.properties).length === 0 &&
    typeof schema.additionalProperties !== "object";
  if (isEmpty && !schema.anyOf && !schema["$ref"]) return "";
  return `${parameter.name}${parameter.isOptional ? "?" : ""}: ${typeTextOf(parameter.schema["$ref"] ? schema : parameter.schema, schema)}`;
}

function positionalCall(parameters: readonly Parameter[], input: JsonSchema): string {
  return parameters
    .map(
      ({ name, schema, isOptional, isRest }) =>
        `${isRest ? "..." : ""}${name}${isOptional && !isRest ? "?" : ""}: ${typeTextOf(schema, input)}`,
    )
    .join(", ");
}

function readResult({ node, load, budget }: FunctionSource, scope: Scope, comment: DocComment) {
  const documented = splitType(tagText(comment, "returns", "return") ?? "");
  const annotated = annotatedType(node.returnType);
  const type = annotated ?? (documented.type === undefined ? undefined : parseJsDocType(documented.type));
  const reader = createSchemaReader(load, budget);
  const read = type ? bounded(reader.finish(reader.schemaOf(type, scope))) : {};
  // A generator, even an asynchronous one, returns an iterator at once.
  const isAsync = node.type !== "TSFunctionType" && node.async && node.generator !== true;
  const isPromise = isAsync || referenceName(type) === "Promise";
  const text = typeTextOf(read, read);
  const description = read.description ?? documented.rest;
  const isKnown = Object.keys(read).length > 0;
  const described = description === "" ? read : { ...read, description };
  return { text: isPromise ? `Promise<${text}>` : text, schema: isKnown ? described : undefined };
}

/** Reads type parameters of the function as their constraint, or else their default. */
function genericsOf(node: FunctionNode, module: SourceModule): Scope["parameters"] {
  const parameters = new Map<string, TypeArgument>();
  if (node.typeParameters?.type !== "TSTypeParameterDeclaration") return parameters;
  for (const { name, constraint, default: fallback } of node.typeParameters.params) {
    const type = constraint ?? fallback;
    const scope = { module, parameters: new Map(parameters) };
    parameters.set(name.name, type ? { type, scope } : { schema: {} });
  }
  return parameters;
}

function bounded(schema: JsonSchema): JsonSchema {
  if (JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS) return schema;
  return schema.type === "object" ? { type: "object" } : {};
}

function describe(comment: DocComment): string {
  const deprecated = tagText(comment, "deprecated");
  if (deprecated === undefined) return comment.summary;
  return [comment.summary, `Deprecated${deprecated === "" ? "." : `: ${deprecated}`}`]
    .filter(Boolean)
    .join("\n\n");
}

function annotationsOf(comment: DocComment): ToolAnnotations | undefined {
  const annotations: ToolAnnotations = {};
  const title = tagText(comment, "title");
  if (title) annotations.title = title;
  for (const hint of HINTS) {
    const text = tagText(comment, hint.replace("Hint", ""), hint);
    if (text !== undefined) annotations[hint] = !/^(?:false|no)\b/i.test(text);
  }
  return Object.keys(annotations).length > 0 ? annotations : undefined;
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
