import type { ToolDefinition } from "@cem/core";
import { toolId } from "@cem/core";
import { splitWords, stem } from "@cem/core/text";
import { NO_ACTIONS, offeredActions, type Actions } from "./actions.ts";
import { DocumentReader } from "./document.ts";
import { NameIndex, nameWords } from "./name-index.ts";
import { buildPostings, type Postings } from "./postings.ts";
import { verbClassesOf } from "./verb-classes.ts";
import { Vocabulary } from "./vocabulary.ts";

/** The part of a description in which its first word is looked for, in UTF-16 units. */
const MAX_VERB_CHARACTERS = 80;

/** Properties of each tool other than its words. */
export interface ToolFacts {
  /** The index of each tool in the catalog as it was passed. */
  readonly order: Uint32Array;
  /** Tools of one server share a number. */
  readonly serverOf: Uint32Array;
  /** The actions of each tool, by the verbs of its name, or else the first verb of its description. */
  readonly actionsOf: Uint16Array;
  /** The verbs of each tool's name, a bit for each class. */
  readonly verbClassesOf: Uint16Array;
}

/** The inverted index of a catalog. Immutable. */
export interface LexicalIndex extends Postings, ToolFacts {
  /** Sorted by id, so that results don't depend on the order of the catalog. */
  readonly tools: readonly ToolDefinition[];
  readonly serverCount: number;
  readonly vocabulary: Vocabulary;
  readonly names: NameIndex;
}

/** Builds the index of a catalog. */
export function buildLexicalIndex(tools: readonly ToolDefinition[]): LexicalIndex {
  const order = sortedPlaces(tools);
  const sorted = inOrder(tools, order);
  const vocabulary = new Vocabulary();
  const reader = new DocumentReader(vocabulary);
  const documents = sorted.map((tool) => reader.read(tool));
  const words = sorted.map(nameWords);
  const ownWords = words.map((line) => (line.split("\t")[1] ?? "").split(" "));
  const facts: ToolFacts = {
    order,
    serverOf: numberServers(sorted),
    actionsOf: Uint16Array.from(sorted, (tool, at) => actionsOfTool(tool, ownWords[at] ?? [])),
    verbClassesOf: Uint16Array.from(ownWords, verbClassesOf),
  };
  return assembleIndex(tools, vocabulary, words, { ...buildPostings(documents, vocabulary.size), ...facts });
}

/**
 * Assembles an index from its parts, newly built or read from a file.
 *
 * @param tools - The catalog in the order for which `numbers.order` was computed.
 * @param words - The name words of each document.
 */
export function assembleIndex(
  tools: readonly ToolDefinition[],
  vocabulary: Vocabulary,
  words: readonly string[],
  numbers: Postings & ToolFacts,
): LexicalIndex {
  return {
    tools: inOrder(tools, numbers.order),
    serverCount: numbers.serverOf.reduce((most, server) => Math.max(most, server + 1), 0),
    vocabulary,
    names: new NameIndex(words),
    ...numbers,
  };
}

function inOrder(tools: readonly ToolDefinition[], order: Uint32Array): ToolDefinition[] {
  return Array.from(order, (place) => tools[place]).filter((tool) => tool !== undefined);
}

function sortedPlaces(tools: readonly ToolDefinition[]): Uint32Array {
  const keyed = tools.map((tool, place) => ({ place, id: toolId(tool), description: tool.description }));
  keyed.sort((one, other) => compare(one.id, other.id) || compare(one.description, other.description));
  return Uint32Array.from(keyed, ({ place }) => place);
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
