import { isObject, type JsonSchema, type ToolDefinition } from "@cem/core";
import { splitStems } from "@cem/core/text";
import type { Vocabulary } from "./vocabulary.ts";

/** The searched fields of a definition, in the order of their bits in a field mask. */
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
/** A searched field of a definition. */
export type Field = (typeof FIELDS)[number];

/** The mask with the bits of these fields. */
export function fieldMask(fields: readonly Field[]): number {
  return fields.reduce((mask, field) => mask | (1 << FIELDS.indexOf(field)), 0);
}

/** The most words read of one field. Bounds keyword stuffing. */
const MAX_FIELD_WORDS = 512;
/** The most characters read of one text. */
const MAX_FIELD_CHARACTERS = 8_192;
const MAX_REMEMBERED_CHARACTERS = 100;
const MAX_SUMMARY_CHARACTERS = 200;
/** The levels of nested schemas whose properties count as parameters. */
const MAX_SCHEMA_DEPTH = 3;
const MAX_PROPERTIES = 256;

/** Reads definitions as term numbers, from which the index is built. */
export class DocumentReader {
  readonly #vocabulary: Vocabulary;
  /** The terms of texts read before: catalogs repeat the same few thousand. */
  readonly #known = new Map<string, readonly number[]>();
  /** The field that each term was last seen in, by the number of the field's read. */
  readonly #seenIn: number[] = [];
  #reading = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** The terms of each of {@link FIELDS}. */
  read(tool: ToolDefinition): number[][] {
    const parameters = textsOf(tool.inputSchema);
    const output = textsOf(tool.outputSchema);
    const { name, originalName = name, server, description, annotations } = tool;
    const summary = firstSentence(description);
    return [
      this.#unique(originalName === name ? [name] : [originalName, name]),
      this.#terms([annotations?.title ?? ""]),
      this.#unique([server]),
      this.#terms([description.slice(summary.length)]),
      this.#unique(parameters.names),
      this.#unique(parameters.texts),
      this.#unique(output.names),
      this.#unique(output.texts),
      this.#terms([summary]),
    ];
  }

  #unique(texts: readonly string[]): number[] {
    this.#reading += 1;
    return this.#terms(texts).filter((term) => {
      const isNew = this.#seenIn[term] !== this.#reading;
      this.#seenIn[term] = this.#reading;
      return isNew;
    });
  }

  #terms(texts: readonly string[]): number[] {
    const terms: number[] = [];
    for (const text of texts) {
      if (typeof text !== "string") continue;
      for (const term of this.#termsOf(text.slice(0, MAX_FIELD_CHARACTERS))) {
        if (terms.length === MAX_FIELD_WORDS) return terms;
        terms.push(term);
      }
    }
    return terms;
  }

  #termsOf(text: string): readonly number[] {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const tokens = text.match(TOKEN) ?? [];
    const terms =
      tokens[0] === text
        ? splitStems(text).map((stem) => this.#vocabulary.add(stem))
        : tokens.flatMap((token) => this.#termsOf(token));
    if (text.length <= MAX_REMEMBERED_CHARACTERS) this.#known.set(text, terms);
    return terms;
  }
}

/** Letters, digits and apostrophes of ASCII, and all that is beyond it. */
const TOKEN = /[A-Za-z0-9'\u0080-\uFFFF]+/g;

/** The first sentence of a description, which mostly says what the tool is for. */
function firstSentence(description: string): string {
  const end = /[.!?](?=\s)|\n|[。！？]/u.exec(description.slice(0, MAX_SUMMARY_CHARACTERS));
  return description.slice(0, end === null ? MAX_SUMMARY_CHARACTERS : end.index + 1);
}

interface SchemaText {
  names: string[];
  texts: string[];
}

function textsOf(schema: unknown): SchemaText {
  const found: SchemaText = { names: [], texts: [] };
  collect(schema, found, 0);
  return found;
}

/** Collects the texts of a schema. Schemas are untrusted: every keyword may hold any value. */
function collect(schema: unknown, into: SchemaText, depth: number): void {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) {
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
  if (isObject(properties)) {
    for (const name of Object.keys(properties).slice(0, MAX_PROPERTIES)) {
      into.names.push(name);
      collect(properties[name], into, depth + 1);
    }
  }
  collect(items, into, depth + 1);
}
