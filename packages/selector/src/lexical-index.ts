import type { ToolDefinition } from "@cem/core";
import { toolId } from "@cem/core";
import { splitWords, stem } from "@cem/text";
import { offeredActions, type Action } from "./actions.ts";
import { FIELDS, toDocument, type Field } from "./document.ts";
import { buildNameIndex, type NameIndex } from "./named-tools.ts";
import { Vocabulary } from "./vocabulary.ts";

/** How much a word counts by where it stands. Chosen over all evaluation sets together. */
const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  name: 3,
  title: 2,
  server: 1,
  description: 1,
  parameter: 0.6,
  parameterText: 0.3,
  output: 0.2,
  outputText: 0.2,
};
/**
 * How strongly length tempers a field's words: 0 not at all, 1 in full. Length is half the field's own, half the
 * whole definition's.
 */
const FIELD_LENGTH_NORMALISATION: Readonly<Record<Field, number>> = {
  name: 0.5,
  title: 0.5,
  server: 0.3,
  description: 0.75,
  parameter: 0.4,
  parameterText: 0.4,
  output: 0.75,
  outputText: 0.75,
};
/** Where a word's repetition stops to count (k1 of BM25). */
const SATURATION = 2;

/** Every tool's words, turned around: from a word to the tools that have it. Immutable. */
export interface LexicalIndex {
  /** Sorted by id, so that the order of the input can't matter. */
  readonly tools: readonly ToolDefinition[];
  readonly vocabulary: Vocabulary;
  /** Postings of term `t` stand from `starts[t]` to `starts[t + 1]`. */
  readonly starts: Uint32Array;
  readonly documents: Uint32Array;
  /** The saturated weight of the term in the document, 0 to 1. */
  readonly impacts: Float32Array;
  /** The fields it stands in, a bit for each of {@link FIELDS}. */
  readonly masks: Uint8Array;
  readonly inverseFrequency: Float32Array;
  /** The fields that each term stands in anywhere. */
  readonly fieldsOf: Uint8Array;
  /** Tools of one server share a number. */
  readonly serverOf: Uint32Array;
  readonly serverCount: number;
  /** What each tool does, by the verbs of its name, else by the first verb of its description. */
  readonly actionsOf: readonly ReadonlySet<Action>[];
  readonly names: NameIndex;
}

export function buildLexicalIndex(tools: readonly ToolDefinition[]): LexicalIndex {
  const sorted = [...tools].toSorted(byId);
  const vocabulary = new Vocabulary();
  const termsByField = sorted.map((tool) => {
    const document = toDocument(tool);
    return FIELDS.map((field) => document[field].map((word) => vocabulary.add(word)));
  });
  const averages = FIELDS.map(
    (_, field) =>
      termsByField.reduce((sum, terms) => sum + (terms[field]?.length ?? 0), 0) / sorted.length || 1,
  );
  const entries = termsByField.map((terms) => weigh(terms, averages));
  return {
    tools: sorted,
    vocabulary,
    ...invert(entries, vocabulary.size),
    ...numberServers(sorted),
    actionsOf: sorted.map(actionsOfTool),
    names: buildNameIndex(sorted),
  };
}

interface Entry {
  frequency: number;
  mask: number;
}

function weigh(termsByField: readonly number[][], averages: readonly number[]): Map<number, Entry> {
  const wholeLength = weightedLength(termsByField.map((terms) => terms.length)) / weightedLength(averages);
  const entries = new Map<number, Entry>();
  for (const [at, field] of FIELDS.entries()) {
    const terms = termsByField[at] ?? [];
    const tempering = FIELD_LENGTH_NORMALISATION[field];
    const length = (terms.length / (averages[at] ?? 1) + wholeLength) / 2;
    const weight = FIELD_WEIGHTS[field] / (1 - tempering + tempering * length);
    for (const term of terms) {
      const entry = entries.get(term);
      if (entry === undefined) {
        entries.set(term, { frequency: weight, mask: 1 << at });
      } else {
        entry.frequency += weight;
        entry.mask |= 1 << at;
      }
    }
  }
  return entries;
}

function weightedLength(lengths: readonly number[]): number {
  return FIELDS.reduce((sum, field, at) => sum + FIELD_WEIGHTS[field] * (lengths[at] ?? 0), 0);
}

function invert(entries: readonly Map<number, Entry>[], termCount: number) {
  const starts = new Uint32Array(termCount + 1);
  for (const document of entries) {
    for (const term of document.keys()) {
      starts[term + 1] = (starts[term + 1] ?? 0) + 1;
    }
  }
  const inverseFrequency = new Float32Array(termCount);
  for (let term = 0; term < termCount; term++) {
    const count = starts[term + 1] ?? 0;
    inverseFrequency[term] = Math.log(1 + (entries.length - count + 0.5) / (count + 0.5));
    starts[term + 1] = (starts[term] ?? 0) + count;
  }
  const total = starts[termCount] ?? 0;
  const documents = new Uint32Array(total);
  const impacts = new Float32Array(total);
  const masks = new Uint8Array(total);
  const fieldsOf = new Uint8Array(termCount);
  const next = starts.slice();
  for (const [document, terms] of entries.entries()) {
    for (const [term, { frequency, mask }] of terms) {
      const at = next[term] ?? 0;
      next[term] = at + 1;
      documents[at] = document;
      impacts[at] = frequency / (SATURATION + frequency);
      masks[at] = mask;
      fieldsOf[term] = (fieldsOf[term] ?? 0) | mask;
    }
  }
  return { starts, documents, impacts, masks, inverseFrequency, fieldsOf };
}

function numberServers(tools: readonly ToolDefinition[]) {
  const numbers = new Map<string, number>();
  const serverOf = Uint32Array.from(tools, ({ server }) => {
    const number = numbers.get(server) ?? numbers.size;
    numbers.set(server, number);
    return number;
  });
  return { serverOf, serverCount: numbers.size };
}

function actionsOfTool(tool: ToolDefinition): ReadonlySet<Action> {
  const inName = splitWords(tool.name).flatMap((word) => [...offeredActions(stem(word))]);
  const [first = ""] = splitWords(tool.description.slice(0, 80));
  return inName.length > 0 ? new Set(inName) : offeredActions(stem(first));
}

function byId(one: ToolDefinition, other: ToolDefinition): number {
  return compare(toolId(one), toolId(other)) || compare(one.description, other.description);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
