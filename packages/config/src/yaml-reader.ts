import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { Located, LocatedEntry, Position } from "./located.ts";
import { findUnclosed, type Unclosed } from "./unclosed.ts";

const MAX_DEPTH = 64;
/** The most values in a file, with aliases resolved. */
const MAX_VALUES = 100_000;

export interface YamlProblem extends Partial<Position> {
  message: string;
}

/** Messages by the parser's codes. Its own messages are not used: they can quote the file, which may hold a secret. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: "has a backslash in \"…\" that means nothing; write \\\\ or use '…'",
  BAD_INDENT: "is indented wrongly; settings of one section start in the same column",
  BAD_SCALAR_START: "has a value that starts with a reserved character; put it in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "has a value after a value; a key may have one, and nested keys go on lines of their own",
  KEY_OVER_1024_CHARS: "has a key that is too long",
  MISSING_CHAR: "lacks a closing quote, a bracket, a comma or the space after a colon",
  MULTILINE_IMPLICIT_KEY: "is not `key: value`: perhaps a colon is missing",
  MULTIPLE_DOCS: "starts a second document; the file takes one",
  MULTIPLE_ANCHORS: "has two anchors (&…) on one value",
  MULTIPLE_TAGS: "has two tags (!…) on one value",
  NON_STRING_KEY: "has a key that is not text",
  RESOURCE_EXHAUSTION: "is nested too deeply",
  TAB_AS_INDENT: "is indented by a tab; use spaces",
  TAG_RESOLVE_FAILED: "has a tag (!…), which means nothing here; put text that starts with ! in quotes",
  BAD_ALIAS: "has an alias (*…) without a name; put text that starts with * in quotes",
  UNEXPECTED_TOKEN: "can't be read as YAML: perhaps a quote or a bracket is missing",
};

const NO_ANCHOR =
  "uses an alias (*…) that no anchor (&…) before it defines; put text that starts with * in quotes";

/**
 * Parses one YAML document.
 *
 * @returns its value with positions, which is `undefined` for an empty document, or the problems that were found.
 */
export function readYaml(text: string): { value: Located | undefined; problems: YamlProblem[] } {
  const counter = new LineCounter();
  const at = (offset: number | undefined): Partial<Position> => {
    if (offset === undefined) return {};
    const { line, col } = counter.linePos(offset);
    return { line, column: col };
  };
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter: counter,
      prettyErrors: false,
      stringKeys: true,
      uniqueKeys: false,
      logLevel: "error",
    });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return { value: undefined, problems: [{ message: "is nested too deeply" }] };
  }
  const problems: YamlProblem[] = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    message: MESSAGES[code] ?? "can't be read as YAML",
    ...at(pos[0]),
  }));
  if (problems.length > 0) {
    const unclosed = findUnclosed(text);
    return {
      value: undefined,
      problems: unclosed === undefined ? problems : [unclosedProblem(unclosed, at)],
    };
  }
  return new Converter(at).convertDocument(document);
}

function unclosedProblem({ what, offset }: Unclosed, at: (offset: number) => Partial<Position>): YamlProblem {
  const message =
    what === "quote"
      ? "lacks a closing quote: one begins here and does not end"
      : `lacks a closing bracket: a ${what} is opened here and not closed with ${what === "[" ? "]" : "}"}`;
  return { message, ...at(offset) };
}

/** Converts nodes to located values in one pass, with bounds on depth and size. */
class Converter {
  readonly #at: (offset: number | undefined) => Partial<Position>;
  readonly #problems: YamlProblem[] = [];
  readonly #anchors = new Map<string, unknown>();
  #values = 0;

  constructor(at: (offset: number | undefined) => Partial<Position>) {
    this.#at = at;
  }

  convertDocument(document: Document.Parsed): { value: Located | undefined; problems: YamlProblem[] } {
    const value = this.#convert(document.contents, 0);
    if (this.#values > MAX_VALUES) {
      const message = `holds more than ${MAX_VALUES} values, each alias counted with all it stands for`;
      return { value: undefined, problems: [{ message }] };
    }
    const empty = value.kind === "scalar" && value.value === null;
    return { value: empty ? undefined : value, problems: this.#problems };
  }

  #convert(node: unknown, depth: number): Located {
    this.#values += 1;
    const position = this.#position(node);
    const nothing: Located = { kind: "scalar", value: null, position };
    if (this.#values > MAX_VALUES) return nothing;
    if (depth > MAX_DEPTH) {
      this.#problems.push({ message: `is nested deeper than ${MAX_DEPTH} levels`, ...position });
      return nothing;
    }
    if (isAlias(node)) {
      const anchored = this.#anchors.get(node.source);
      if (anchored === undefined) this.#problems.push({ message: NO_ANCHOR, ...position });
      const target = this.#convert(anchored, depth + 1);
      return { ...target, position };
    }
    if (isScalar(node)) {
      this.#remember(node.anchor, node);
      const source = node.type === "PLAIN" ? node.source : undefined;
      return { kind: "scalar", value: node.value, source, position };
    }
    if (isSeq(node)) {
      this.#remember(node.anchor, node);
      return { kind: "list", items: node.items.map((item) => this.#convert(item, depth + 1)), position };
    }
    if (!isMap(node)) return nothing;
    this.#remember(node.anchor, node);
    return { kind: "mapping", entries: this.#entries(node, depth), position };
  }

  #entries(map: YAMLMap, depth: number): LocatedEntry[] {
    const entries = new Map<string, LocatedEntry>();
    const merged: LocatedEntry[] = [];
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : "";
      const position = this.#position(pair.key);
      const value = this.#convert(pair.value, depth + 1);
      if (key === "<<") {
        const sources = value.kind === "list" ? value.items : [value];
        merged.push(...sources.flatMap((source) => (source.kind === "mapping" ? source.entries : [])));
        continue;
      }
      const first = entries.get(key);
      if (first === undefined) {
        entries.set(key, { key, value, keyPosition: position });
        continue;
      }
      const where = first.keyPosition === undefined ? "" : `, first on line ${first.keyPosition.line}`;
      this.#problems.push({ message: `sets ${JSON.stringify(key.slice(0, 60))} twice${where}`, ...position });
    }
    for (const entry of merged) if (!entries.has(entry.key)) entries.set(entry.key, entry);
    return [...entries.values()];
  }

  #remember(anchor: string | undefined, node: unknown): void {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
  }

  #position(node: unknown): Position | undefined {
    const range = (node as { range?: [number, number, number] | null | undefined } | null)?.range;
    const { line, column } = this.#at(range?.[0]);
    return line === undefined || column === undefined ? undefined : { line, column };
  }
}
