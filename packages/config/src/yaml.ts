import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, Pair, YAMLMap } from "yaml";
import type { Position } from "./layer.ts";
import { describeErrors } from "./yaml-errors.ts";

export { getPath, type Position } from "./layer.ts";

type PositionAt = (offset: number | undefined) => Position | undefined;

export interface YamlProblem extends Partial<Position> {
  message: string;
}

/** The place of a value in a file. */
export interface YamlPlace {
  /** The position of its key, or of the value itself in a list. */
  position?: Position | undefined;
  /** The text as written, for a scalar without quotes. */
  source?: string | undefined;
}

/** A document as plain data, with the places of its parts. */
export interface YamlDocument {
  /** Its keys are as written. `undefined` for an empty document, and for one with problems. */
  value: unknown;
  problems: YamlProblem[];
  /**
   * Finds where a part was written.
   *
   * @param path - Keys and indices from the document's root.
   * @returns the place; when the path does not exist, the position of the last part that does.
   */
  at: (path: readonly PropertyKey[]) => YamlPlace;
}

const NO_ANCHOR =
  "uses an alias (*…) that no anchor (&…) before it defines; put text that starts with * in quotes";

/** Parses one YAML document: its value, or the problems that were found. */
export function readYaml(text: string): YamlDocument {
  const counter = new LineCounter();
  const at: PositionAt = (offset) => {
    if (offset === undefined) return undefined;
    const { line, col } = counter.linePos(offset);
    return { line, column: col };
  };
  const failed = (problems: YamlProblem[]): YamlDocument => ({ value: undefined, problems, at: () => ({}) });
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter: counter,
      prettyErrors: false,
      stringKeys: true,
      uniqueKeys: false,
      merge: true,
      logLevel: "error",
    });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return failed([{ message: "is nested too deeply" }]);
  }
  const errors = describeErrors([...document.errors, ...document.warnings], text);
  if (errors.length > 0) return failed(errors.map(({ message, offset }) => ({ message, ...at(offset) })));
  const { problems: found, pairs } = inspect(document, at);
  if (found.length > 0) return failed(found);
  try {
    const value: unknown = document.toJS();
    return {
      value: value ?? undefined,
      problems: [],
      at: (path) => findPlace(document, path, { pairs, at }),
    };
  } catch (thrown) {
    // Nested aliases can expand beyond the memory of a machine.
    const isTooMuch = thrown instanceof ReferenceError || thrown instanceof RangeError;
    const uses = isTooMuch
      ? "aliases (*…) for more than it may hold"
      : "<<: with something that is not a map";
    return failed([{ message: `uses ${uses}` }]);
  }
}

type Pairs = Map<YAMLMap, ReadonlyMap<string, Pair>>;

/** Finds duplicate keys, and aliases that are undefined or contain themselves. */
function inspect(document: Document.Parsed, at: PositionAt): { problems: YamlProblem[]; pairs: Pairs } {
  const problems: YamlProblem[] = [];
  const pairs: Pairs = new Map();
  visit(document, {
    Map(_, map) {
      const known = new Map<string, Pair>();
      for (const pair of map.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : "";
        const first = known.get(key);
        if (first === undefined) known.set(key, pair);
        else if (key !== "<<") {
          const message = `sets ${JSON.stringify(key.slice(0, 60))} twice, first on line ${at(startOf(first.key))?.line}`;
          problems.push({ message, ...at(startOf(pair.key)) });
        }
      }
      pairs.set(map, known);
    },
    Alias(_, alias) {
      const anchored = alias.resolve(document);
      if (anchored !== undefined && (startOf(alias) ?? 0) >= (anchored.range?.[1] ?? 0)) return;
      const message = anchored === undefined ? NO_ANCHOR : "uses an alias (*…) within what it stands for";
      problems.push({ message, ...at(startOf(alias)) });
    },
  });
  return { problems, pairs };
}

function findPlace(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  { pairs, at }: { pairs: Pairs; at: PositionAt },
): YamlPlace {
  let node: unknown = document.contents;
  let position = at(startOf(node));
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node) ? pairs.get(node)?.get(String(part)) : undefined;
    const item: unknown = isSeq(node) ? node.items[Number(part)] : pair?.key;
    if (item === undefined) return { position };
    position = at(startOf(item)) ?? position;
    node = pair === undefined ? item : pair.value;
  }
  if (isAlias(node)) node = node.resolve(document);
  return { position, source: isScalar(node) && node.type === "PLAIN" ? node.source : undefined };
}

/** Where a node begins, in characters from the start. */
function startOf(node: unknown): number | undefined {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0];
}
