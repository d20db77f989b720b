import type { JsonSchema, ToolDefinition } from "@cem/core";
import { stemsOf } from "./remembered-words.ts";

/** The parts of a definition that are searched, in the order of their bits in a field mask. */
export const FIELDS = [
  "name",
  "title",
  "server",
  "description",
  "parameter",
  "parameterText",
  "output",
  "outputText",
  "summary",
] as const;
export type Field = (typeof FIELDS)[number];

/** A bit for each of these fields. */
export function fieldMask(fields: readonly Field[]): number {
  return fields.reduce((mask, field) => mask | (1 << FIELDS.indexOf(field)), 0);
}

/** Words of one field that are read. What a longer field adds is more likely stuffing than meaning. */
const MAX_FIELD_WORDS = 512;
/** Characters of one text that are read. */
const MAX_FIELD_CHARACTERS = 8_192;
const MAX_SUMMARY_CHARACTERS = 200;
/** Levels of nested schemas whose properties count as parameters. */
const MAX_SCHEMA_DEPTH = 3;
const MAX_PROPERTIES = 256;

/** A definition as words: what the index is built from. */
export type Document = Record<Field, string[]>;

export function toDocument(tool: ToolDefinition): Document {
  const parameters: SchemaText = { names: [], texts: [] };
  collect(tool.inputSchema, parameters, 0);
  const output: SchemaText = { names: [], texts: [] };
  if (tool.outputSchema !== undefined) {
    collect(tool.outputSchema, output, 0);
  }
  const names =
    tool.originalName === undefined || tool.originalName === tool.name
      ? [tool.name]
      : [tool.originalName, tool.name];
  const summary = firstSentence(tool.description);
  return {
    name: unique(fieldStems(names)),
    title: fieldStems([tool.annotations?.title ?? ""]),
    server: unique(fieldStems([tool.server])),
    description: fieldStems([tool.description.slice(summary.length)]),
    summary: fieldStems([summary]),
    parameter: unique(fieldStems(parameters.names)),
    parameterText: unique(fieldStems(parameters.texts)),
    output: unique(fieldStems(output.names)),
    outputText: unique(fieldStems(output.texts)),
  };
}

/** What a tool says of itself first is what it is for; the rest is how to use it. */
function firstSentence(description: string): string {
  const end = /[.!?](?=\s)|\n|[。！？]/u.exec(description.slice(0, MAX_SUMMARY_CHARACTERS));
  return description.slice(0, end === null ? MAX_SUMMARY_CHARACTERS : end.index + 1);
}

interface SchemaText {
  names: string[];
  texts: string[];
}

/** Definitions are other people's data: every keyword may hold anything. */
function collect(schema: unknown, into: SchemaText, depth: number): void {
  if (!isRecord(schema) || depth > MAX_SCHEMA_DEPTH) {
    return;
  }
  const { description, properties, items, enum: values } = schema as JsonSchema;
  if (typeof description === "string") {
    into.texts.push(description);
  }
  for (const value of Array.isArray(values) ? values.slice(0, MAX_PROPERTIES) : []) {
    if (typeof value === "string") {
      into.texts.push(value);
    }
  }
  if (isRecord(properties)) {
    for (const name of Object.keys(properties).slice(0, MAX_PROPERTIES)) {
      into.names.push(name);
      collect(properties[name], into, depth + 1);
    }
  }
  collect(items, into, depth + 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldStems(texts: readonly string[]): string[] {
  const stems: string[] = [];
  for (const text of texts) {
    if (typeof text !== "string") {
      continue;
    }
    for (const stem of stemsOf(text.slice(0, MAX_FIELD_CHARACTERS))) {
      if (stems.length === MAX_FIELD_WORDS) {
        return stems;
      }
      stems.push(stem);
    }
  }
  return stems;
}

function unique(words: string[]): string[] {
  return [...new Set(words)];
}
