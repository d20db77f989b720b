import type { ToolDefinition } from "@cem/core";
import { toolId } from "@cem/core";
import { splitWords, stem } from "@cem/text";
import { offeredActions, type Action } from "./actions.ts";
import { fieldMask, FIELDS, toDocument, type Field } from "./document.ts";
import { buildNameIndex, type NameIndex } from "./named-tools.ts";
import { wordsOf } from "./remembered-words.ts";
import { verbClassesOf } from "./verb-classes.ts";
import { Vocabulary } from "./vocabulary.ts";

/** How much a word counts by where it stands. Chosen over all evaluation sets together. */
const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  name: 4,
  title: 2,
  server: 1.5,
  description: 1,
  parameter: 0.6,
  parameterText: 0.3,
  output: 0.2,
  outputText: 0.2,
  summary: 1.5,
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
  summary: 0.75,
};
/** Where a word's repetition stops to count (k1 of BM25). */
const SATURATION = 1.2;

/** Within so much of a description its first word ends. */
const MAX_VERB_CHARACTERS = 80;
const NAME_FIELD = fieldMask(["name"]);

/** All that the numbers of an index depend on beside the tools. */
export const INDEX_PARAMETERS = JSON.stringify([FIELD_WEIGHTS, FIELD_LENGTH_NORMALISATION, SATURATION]);

/** Every tool's words, turned around: from a word to the tools that have it. */
export interface Postings {
  /** Postings of term `t` stand from `starts[t]` to `starts[t + 1]`. */
  readonly starts: Uint32Array;
  readonly documents: Uint32Array;
  /** The saturated weight of the term in the document, 0 to 1. */
  readonly impacts: Float32Array;
  /** The fields it stands in, a bit for each of {@link FIELDS}. */
  readonly masks: Uint16Array;
  readonly inverseFrequency: Float32Array;
  /** The fields that each term stands in anywhere. */
  readonly fieldsOf: Uint16Array;
  /** How rare the words of each tool's name are, in all. */
  readonly nameWeights: Float32Array;
}

/** What is known of each tool beside its words. */
interface ToolFacts {
  /** Tools of one server share a number. */
  readonly serverOf: Uint32Array;
  readonly serverCount: number;
  /** What each tool does, by the verbs of its name, else by the first verb of its description. */
  readonly actionsOf: readonly ReadonlySet<Action>[];
  /** The verbs of each tool's name, a bit for each class. */
  readonly verbClassesOf: Uint16Array;
  readonly names: NameIndex;
}

/** A catalog that is ready to be searched. Immutable. */
export interface LexicalIndex extends Postings, ToolFacts {
  /** Sorted by id, so that the order of the input can't matter. */
  readonly tools: readonly ToolDefinition[];
  readonly vocabulary: Vocabulary;
}

export function buildLexicalIndex(tools: readonly ToolDefinition[]): LexicalIndex {
  const sorted = sortTools(tools);
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
    ...describeTools(sorted),
  };
}

export function describeTools(sorted: readonly ToolDefinition[]): ToolFacts {
  return {
    ...numberServers(sorted),
    actionsOf: findActions(sorted),
    verbClassesOf: Uint16Array.from(sorted, ({ name }) => verbClassesOf(name)),
    names: buildNameIndex(sorted),
  };
}

export function sortTools(tools: readonly ToolDefinition[]): ToolDefinition[] {
  return tools
    .map((tool) => ({ tool, id: toolId(tool) }))
    .toSorted(
      (one, other) => compare(one.id, other.id) || compare(one.tool.description, other.tool.description),
    )
    .map(({ tool }) => tool);
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
  const masks = new Uint16Array(total);
  const fieldsOf = new Uint16Array(termCount);
  const nameWeights = new Float32Array(entries.length);
  const next = starts.slice();
  for (const [document, terms] of entries.entries()) {
    for (const [term, { frequency, mask }] of terms) {
      const at = next[term] ?? 0;
      next[term] = at + 1;
      documents[at] = document;
      impacts[at] = frequency / (SATURATION + frequency);
      masks[at] = mask;
      fieldsOf[term] = (fieldsOf[term] ?? 0) | mask;
      if ((mask & NAME_FIELD) !== 0) {
        nameWeights[document] = (nameWeights[document] ?? 0) + (inverseFrequency[term] ?? 0);
      }
    }
  }
  return { starts, documents, impacts, masks, inverseFrequency, fieldsOf, nameWeights };
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

/** Tools that do the same share one set, so that what it means for a query is worked out once. */
function findActions(tools: readonly ToolDefinition[]): ReadonlySet<Action>[] {
  const sets = new Map<string, ReadonlySet<Action>>();
  return tools.map((tool) => {
    const actions = actionsOfTool(tool).toSorted();
    const key = actions.join(" ");
    const set = sets.get(key) ?? new Set(actions);
    sets.set(key, set);
    return set;
  });
}

function actionsOfTool(tool: ToolDefinition): Action[] {
  const inName = wordsOf(tool.name).flatMap((word) => [...offeredActions(stem(word))]);
  if (inName.length > 0) return [...new Set(inName)];
  const [first = ""] = splitWords(tool.description.slice(0, MAX_VERB_CHARACTERS));
  return [...offeredActions(stem(first))];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
