import { isObject, type JsonSchema, type ToolDefinition } from "@cem/core";
import { splitStems } from "@cem/core/text";
import type { TermIndex } from "./term-index.ts";

/**
 * The searched fields of a definition, in the order of their bits in a field mask, with their weights (BM25F) and their
 * length normalisation (b of BM25F): 0 for none, 1 for full. The length is the mean of the field's own and the whole
 * definition's. Tuned over all evaluation sets together.
 */
export const FIELD_WEIGHTS = {
  name: [4, 0.5],
  title: [2, 0.5],
  server: [1.5, 0.3],
  description: [1, 0.75],
  parameter: [0.6, 0.4],
  parameterText: [0.3, 0.4],
  output: [0.2, 0.75],
  outputText: [0.2, 0.75],
  summary: [1.5, 0.75],
} as const satisfies Record<string, readonly [weight: number, normalisation: number]>;
type Field = keyof typeof FIELD_WEIGHTS;
export const FIELDS = Object.keys(FIELD_WEIGHTS) as Field[];

export function fieldMask(fields: readonly Field[]): number {
  return fields.reduce((mask, field) => mask | (1 << FIELDS.indexOf(field)), 0);
}

/** Maximum number of words read of one field. Limits keyword stuffing. */
const MAX_FIELD_WORDS = 512;
const MAX_FIELD_CHARACTERS = 8_192;
const MAX_REMEMBERED_CHARACTERS = 100;
const MAX_SUMMARY_CHARACTERS = 200;
/** The levels of nested schemas whose properties count as parameters. */
const MAX_SCHEMA_DEPTH = 3;
const MAX_PROPERTIES = 256;

/** Creates a reader of definitions, which returns the term numbers of each of {@link FIELDS}. The index is built from these. */
export function createDocumentReader(vocabulary: TermIndex): (tool: ToolDefinition) => number[][] {
  /** Cached terms by text: catalogs repeat the same few thousand texts. */
  const known = new Map<string, readonly number[]>();
  /** The field that each term was last seen in, by the number of the field's read. */
  const seenIn: number[] = [];
  let reading = 0;

  const termsOf = (text: string): readonly number[] => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const tokens = text.match(TOKEN) ?? [];
    const terms =
      tokens[0] === text ? splitStems(text).map((stem) => vocabulary.add(stem)) : tokens.flatMap(termsOf);
    if (text.length <= MAX_REMEMBERED_CHARACTERS) known.set(text, terms);
    return terms;
  };

  const termsIn = (texts: readonly string[]): number[] => {
    const terms: number[] = [];
    for (const text of texts) {
      if (typeof text !== "string") continue;
      for (const term of termsOf(text.slice(0, MAX_FIELD_CHARACTERS))) {
        if (terms.length === MAX_FIELD_WORDS) return terms;
        terms.push(term);
      }
    }
    return terms;
  };

  const uniqueIn = (texts: readonly string[]): number[] => {
    reading += 1;
    return termsIn(texts).filter((term) => {
      const isNew = seenIn[term] !== reading;
      seenIn[term] = reading;
      return isNew;
    });
  };

  return ({ name, originalName = name, server, description, annotations, inputSchema, outputSchema }) => {
    const parameters = textsOf(inputSchema);
    const output = textsOf(outputSchema);
    const summary = firstSentence(description);
    return [
      uniqueIn(originalName === name ? [name] : [originalName, name]),
      termsIn([annotations?.title ?? ""]),
      uniqueIn([server]),
      termsIn([description.slice(summary.length)]),
      uniqueIn(parameters.names),
      uniqueIn(parameters.texts),
      uniqueIn(output.names),
      uniqueIn(output.texts),
      termsIn([summary]),
    ];
  };
}

/** ASCII letters, digits and apostrophes, and everything beyond ASCII. */
const TOKEN = /[A-Za-z0-9'\u0080-\uFFFF]+/g;

/** The first sentence of a description, which usually says what the tool is for. */
function firstSentence(description: string): string {
  const end = /[.!?](?=\s)|\n|[。！？]/u.exec(description.slice(0, MAX_SUMMARY_CHARACTERS));
  return description.slice(0, end === null ? MAX_SUMMARY_CHARACTERS : end.index + 1);
}

/** Collects the texts of a schema. Schemas are untrusted: every keyword may hold any value. */
function textsOf(schema: unknown, into = { names: [] as string[], texts: [] as string[] }, depth = 0) {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return into;
  const { description, properties, items, enum: values } = schema as JsonSchema;
  const told: unknown[] = [description, ...(Array.isArray(values) ? values.slice(0, MAX_PROPERTIES) : [])];
  into.texts.push(...told.filter((text) => typeof text === "string"));
  if (isObject(properties)) {
    for (const name of Object.keys(properties).slice(0, MAX_PROPERTIES)) {
      into.names.push(name);
      textsOf(properties[name], into, depth + 1);
    }
  }
  return textsOf(items, into, depth + 1);
}
