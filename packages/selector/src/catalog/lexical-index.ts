import { toolId, type ToolDefinition } from "@cem/core";
import { splitWords, stem } from "@cem/core/text";
import { NO_ACTIONS, offeredActions, type Actions, verbClassesOf } from "../words/verbs.ts";
import { createDocumentReader, FIELD_WEIGHTS, fieldMask, FIELDS } from "./document.ts";
import { createNameIndex, nameWords, readNames } from "./name-index.ts";
import { createTermIndex, readGrams } from "./term-index.ts";

/** Saturation of the term frequency (k1 of BM25). */
const SATURATION = 1.2;
const NAME_FIELD = fieldMask(["name"]);

function buildPostings(documents: readonly (readonly number[][])[], termCount: number) {
  const averages = FIELDS.map(
    (_, field) =>
      documents.reduce((sum, terms) => sum + (terms[field]?.length ?? 0), 0) / documents.length || 1,
  );
  const { starts, inverseFrequency } = countDocuments(documents, termCount);
  const total = starts[termCount] ?? 0;
  const postings = {
    /** The postings of term `t` are those from `starts[t]` to `starts[t + 1]`. */
    starts,
    documents: new Uint32Array(total),
    /** The saturated frequency of the term in the document, 0 to 1. */
    impacts: new Float32Array(total),
    /** The fields of the document with the term, a bit for each of {@link FIELDS}. */
    masks: new Uint16Array(total),
    inverseFrequency,
    fieldsOf: new Uint16Array(termCount),
    /** The sum of the inverse document frequencies of the words of each tool's name. */
    nameWeights: new Float32Array(documents.length),
  };
  const next = starts.slice();
  // Buffers for the terms of one document; all zero between two documents.
  const frequencies = new Float64Array(termCount);
  const fields = new Uint16Array(termCount);
  for (const [document, terms] of documents.entries()) {
    for (const term of weigh(terms, averages, frequencies, fields)) {
      const frequency = frequencies[term] ?? 0;
      const mask = fields[term] ?? 0;
      frequencies[term] = 0;
      fields[term] = 0;
      const at = next[term] ?? 0;
      next[term] = at + 1;
      postings.documents[at] = document;
      postings.impacts[at] = frequency / (SATURATION + frequency);
      postings.masks[at] = mask;
      postings.fieldsOf[term] = (postings.fieldsOf[term] ?? 0) | mask;
      if ((mask & NAME_FIELD) !== 0) {
        postings.nameWeights[document] =
          (postings.nameWeights[document] ?? 0) + (inverseFrequency[term] ?? 0);
      }
    }
  }
  return postings;
}

/** Smaller catalogs are weighted as if they had this many tools, so that a word that is in every tool still counts. */
const LEAST_DOCUMENTS = 12;

/** The inverse document frequency of a word that occurs in `count` of the documents. */
export function inverseDocumentFrequency(documents: number, count: number): number {
  return Math.log(1 + (Math.max(documents, LEAST_DOCUMENTS) - count + 0.5) / (count + 0.5));
}

/** Counts the documents of each term: where its postings begin, and its inverse document frequency. */
function countDocuments(documents: readonly (readonly number[][])[], termCount: number) {
  const starts = new Uint32Array(termCount + 1);
  const lastDocument = new Uint32Array(termCount);
  for (const [document, fields] of documents.entries()) {
    for (const terms of fields) {
      for (const term of terms) {
        if (lastDocument[term] === document + 1) continue;
        lastDocument[term] = document + 1;
        starts[term + 1] = (starts[term + 1] ?? 0) + 1;
      }
    }
  }
  const inverseFrequency = new Float32Array(termCount);
  for (let term = 0; term < termCount; term++) {
    const count = starts[term + 1] ?? 0;
    inverseFrequency[term] = inverseDocumentFrequency(documents.length, count);
    starts[term + 1] = (starts[term] ?? 0) + count;
  }
  return { starts, inverseFrequency };
}

/** Fills in the weighted frequency and the fields of each term of a document; returns the terms. */
function weigh(
  termsByField: readonly number[][],
  averages: readonly number[],
  frequencies: Float64Array,
  fields: Uint16Array,
): number[] {
  const wholeLength = weightedLength(termsByField.map((terms) => terms.length)) / weightedLength(averages);
  const found: number[] = [];
  for (const [at, field] of FIELDS.entries()) {
    const terms = termsByField[at] ?? [];
    const [ofField, tempering] = FIELD_WEIGHTS[field];
    const length = (terms.length / (averages[at] ?? 1) + wholeLength) / 2;
    const weight = ofField / (1 - tempering + tempering * length);
    for (const term of terms) {
      if (fields[term] === 0) found.push(term);
      frequencies[term] = (frequencies[term] ?? 0) + weight;
      fields[term] = (fields[term] ?? 0) | (1 << at);
    }
  }
  return found;
}

function weightedLength(lengths: readonly number[]): number {
  return FIELDS.reduce((sum, field, at) => sum + FIELD_WEIGHTS[field][0] * (lengths[at] ?? 0), 0);
}

/** The part of a description that is searched for its first word, in UTF-16 units. */
const MAX_VERB_CHARACTERS = 80;

/** An index without its tools: numbers and texts, which can be stored in a file. */
export type IndexData = ReturnType<typeof buildIndexData>;

export function buildIndexData(tools: readonly ToolDefinition[]) {
  const order = orderById(tools);
  const sorted = inOrder(tools, order);
  const words: string[] = [];
  const vocabulary = createTermIndex(words);
  const documents = sorted.map(createDocumentReader(vocabulary));
  const lines = sorted.map(nameWords);
  const ownWords = lines.map((line) => (line.split("\t")[1] ?? "").split(" "));
  const serverOf = numberServers(sorted);
  return {
    ...buildPostings(documents, vocabulary.size),
    /** The position of each document in the catalog. Sorted by id, so that results don't depend on the order of the catalog. */
    order,
    ids: sorted.map(toolId),
    /** Tools of one server share a number. */
    serverOf,
    serverCount: new Set(serverOf).size,
    words,
    grams: readGrams(words),
    names: readNames(lines),
    /** The actions of each tool, by the verbs of its name, or else the first verb of its description. */
    actionsOf: Uint16Array.from(sorted, (tool, at) => actionsOfTool(tool, ownWords[at] ?? [])),
    /** The verbs of each tool's name, a bit for each class. */
    verbClassesOf: Uint16Array.from(ownWords, verbClassesOf),
  };
}

/** The inverted index of a catalog. Immutable. */
export type LexicalIndex = Readonly<ReturnType<typeof openIndex>>;

/** Creates the index of the tools that its data was read from, in the same order. */
export function openIndex(tools: readonly ToolDefinition[], data: IndexData) {
  return {
    ...data,
    tools: inOrder(tools, data.order),
    vocabulary: createTermIndex(data.words, data.grams),
    namedIn: createNameIndex(data.names),
  };
}

/** Whether a document has a term, by binary search in the term's postings. */
export function hasTerm({ starts, documents }: LexicalIndex, document: number, term: number): boolean {
  const end = starts[term + 1] ?? 0;
  let low = starts[term] ?? 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((documents[middle] ?? 0) < document) low = middle + 1;
    else high = middle;
  }
  return low < end && documents[low] === document;
}

function orderById(tools: readonly ToolDefinition[]): Uint32Array {
  const keyed = tools.map((tool, at) => ({ at, id: toolId(tool), description: tool.description }));
  keyed.sort((one, other) => compare(one.id, other.id) || compare(one.description, other.description));
  return Uint32Array.from(keyed, ({ at }) => at);
}

function inOrder(tools: readonly ToolDefinition[], order: Uint32Array): ToolDefinition[] {
  return Array.from(order, (at) => tools[at]).filter((tool) => tool !== undefined);
}

function numberServers(tools: readonly ToolDefinition[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(tools, ({ server }) => {
    const number = numbers.get(server) ?? numbers.size;
    numbers.set(server, number);
    return number;
  });
}

function actionsOfTool(tool: ToolDefinition, nameWords: readonly string[]): Actions {
  const inName = nameWords.reduce<Actions>((all, word) => all | offeredActions(stem(word)), NO_ACTIONS);
  if (inName !== NO_ACTIONS) return inName;
  const [first = ""] = splitWords(tool.description.slice(0, MAX_VERB_CHARACTERS));
  return offeredActions(stem(first));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
