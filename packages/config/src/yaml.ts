import { Lexer, LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Alias, Document, ErrorCode, Pair, YAMLMap } from "yaml";

const MAX_DEPTH = 64;
/** The most values in a file, with aliases resolved. */
const MAX_VALUES = 100_000;

/** A 1-based position in a file. */
export interface Position {
  line: number;
  column: number;
}

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
   * @returns where the path leads to nothing, the position of the last part of it that is there.
   */
  at: (path: readonly PropertyKey[]) => YamlPlace;
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

/** Parses one YAML document: its value, or the problems that were found. */
export function readYaml(text: string): YamlDocument {
  const counter = new LineCounter();
  const at = (offset: number | undefined): Partial<Position> => {
    if (offset === undefined) return {};
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
      logLevel: "error",
    });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return failed([{ message: "is nested too deeply" }]);
  }
  const problems: YamlProblem[] = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    message: MESSAGES[code] ?? "can't be read as YAML",
    ...at(pos[0]),
  }));
  if (problems.length > 0) {
    const unclosed = findUnclosed(text);
    if (unclosed !== undefined) return failed([unclosedProblem(unclosed, at)]);
    const misindented = findMisindented(text, problems[0]?.line ?? 0);
    return failed(misindented === undefined ? problems : [misindented]);
  }
  const converter = new Converter(at);
  const value = converter.convert(document.contents, 0);
  const found = converter.problems;
  if (found.length > 0) return failed(found);
  return {
    value: value ?? undefined,
    problems: [],
    at: (path) => converter.placeOf(document.contents, path),
  };
}

const BLOCK_TEXT = /[:-] [|>][-+\d]*\s*$/u;
const KEY_OR_ITEM = /^(?:- |-$|[^\s#:{}[\],]+:(?:\s|$))/u;

/**
 * Finds the first line that starts in a column where nothing around it does. The parser reports what follows from it, on that
 * line or the one before.
 */
function findMisindented(text: string, line: number): YamlProblem | undefined {
  const columns = [0];
  /** Whether the line before may have lines of its own below it. */
  let opens = false;
  /** The column of the key whose text over several lines is being read. */
  let textIn = Infinity;
  for (const [index, written] of text
    .split("\n")
    .slice(0, line + 1)
    .entries()) {
    const content = written.trimStart();
    if (content === "" || content.startsWith("#")) continue;
    const column = written.length - content.length;
    if (column > textIn) continue;
    // Values over several lines are indented as people like.
    if (!KEY_OR_ITEM.test(content)) return undefined;
    textIn = BLOCK_TEXT.test(content) ? column : Infinity;
    const last = columns.at(-1) ?? 0;
    while ((columns.at(-1) ?? 0) > column) columns.pop();
    const isNew = column > last && opens;
    if (columns.at(-1) !== column && !isNew) {
      const message = `${MESSAGES.BAD_INDENT}: this line starts in column ${column + 1}, where none around it does`;
      return { message, line: index + 1, column: column + 1 };
    }
    if (isNew) columns.push(column);
    if (content.startsWith("- ")) columns.push(column + content.length - content.slice(1).trimStart().length);
    opens = /[:-]\s*$/u.test(content);
  }
  return undefined;
}

function unclosedProblem({ what, offset }: Unclosed, at: (offset: number) => Partial<Position>): YamlProblem {
  const message =
    what === "quote"
      ? "lacks a closing quote: one begins here and does not end"
      : `lacks a closing bracket: a ${what} is opened here and not closed with ${what === "[" ? "]" : "}"}`;
  return { message, ...at(offset) };
}

/** Converts nodes to plain data in one pass, with bounds on depth and size, and finds the places of parts. */
class Converter {
  readonly #at: (offset: number | undefined) => Partial<Position>;
  readonly #problems: YamlProblem[] = [];
  readonly #anchors = new Map<string, unknown>();
  readonly #targets = new Map<Alias, unknown>();
  readonly #pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  #values = 0;

  constructor(at: (offset: number | undefined) => Partial<Position>) {
    this.#at = at;
  }

  get problems(): YamlProblem[] {
    if (this.#values <= MAX_VALUES) return this.#problems;
    return [{ message: `holds more than ${MAX_VALUES} values, each alias counted with all it stands for` }];
  }

  convert(node: unknown, depth: number): unknown {
    this.#values += 1;
    if (this.#values > MAX_VALUES) return null;
    if (depth > MAX_DEPTH) {
      this.#problems.push({ message: `is nested deeper than ${MAX_DEPTH} levels`, ...this.#startOf(node) });
      return null;
    }
    if (isAlias(node)) {
      const anchored = this.#anchors.get(node.source);
      if (anchored === undefined) this.#problems.push({ message: NO_ANCHOR, ...this.#startOf(node) });
      this.#targets.set(node, anchored);
      return this.convert(anchored, depth + 1);
    }
    if (isScalar(node)) {
      this.#remember(node.anchor, node);
      return node.value;
    }
    if (isSeq(node)) {
      this.#remember(node.anchor, node);
      return node.items.map((item) => this.convert(item, depth + 1));
    }
    if (!isMap(node)) return null;
    this.#remember(node.anchor, node);
    return this.#object(node, depth);
  }

  #object(map: YAMLMap, depth: number): Record<string, unknown> {
    const values = new Map<string, unknown>();
    const merged: unknown[] = [];
    const pairs = new Map<string, Pair>();
    for (const pair of map.items) {
      const key = keyOf(pair);
      const value = this.convert(pair.value, depth + 1);
      const first = pairs.get(key);
      if (key === "<<") merged.push(...(Array.isArray(value) ? value : [value]));
      else if (first === undefined) {
        pairs.set(key, pair);
        values.set(key, value);
      } else {
        const { line } = this.#startOf(first.key);
        const message = `sets ${JSON.stringify(key.slice(0, 60))} twice, first on line ${line}`;
        this.#problems.push({ message, ...this.#startOf(pair.key) });
      }
    }
    for (const source of merged) {
      if (typeof source !== "object" || source === null || Array.isArray(source)) continue;
      for (const [key, value] of Object.entries(source)) if (!values.has(key)) values.set(key, value);
    }
    this.#pairs.set(map, pairs);
    return Object.fromEntries(values);
  }

  placeOf(root: unknown, path: readonly PropertyKey[]): YamlPlace {
    let node = root;
    let position = positionOf(this.#startOf(node));
    for (const part of path) {
      if (isAlias(node)) node = this.#targets.get(node);
      if (isMap(node)) {
        const pair = this.#pairs.get(node)?.get(String(part));
        if (pair === undefined) return { position };
        position = positionOf(this.#startOf(pair.key)) ?? position;
        node = pair.value;
      } else {
        const item: unknown = isSeq(node) ? node.items[Number(part)] : undefined;
        if (item === undefined) return { position };
        position = positionOf(this.#startOf(item)) ?? position;
        node = item;
      }
    }
    if (isAlias(node)) node = this.#targets.get(node);
    return { position, source: isScalar(node) && node.type === "PLAIN" ? node.source : undefined };
  }

  #remember(anchor: string | undefined, node: unknown): void {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
  }

  #startOf(node: unknown): Partial<Position> {
    const range = (node as { range?: [number, number, number] | null | undefined } | null)?.range;
    return this.#at(range?.[0]);
  }
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}

function positionOf({ line, column }: Partial<Position>): Position | undefined {
  return line === undefined || column === undefined ? undefined : { line, column };
}

/** Something that is opened in a text and not closed. */
interface Unclosed {
  what: "[" | "{" | "quote";
  /** Where it is opened, in characters from the start. */
  offset: number;
}

/** Tokens of the lexer that stand for nothing in the text. */
const MARKS = new Set(["\u0002", "\u0018", "\u001F"]);
const FLOW_ERROR = "\u0018";
const CLOSERS: Readonly<Record<string, "[" | "{">> = { "]": "[", "}": "{" };

/** Finds the first bracket or quote of a YAML text that is not closed: the parser reports where it noticed, far below. */
function findUnclosed(text: string): Unclosed | undefined {
  const open: Unclosed[] = [];
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === FLOW_ERROR) return open.at(-1);
    if (MARKS.has(token)) continue;
    if (token === "[" || token === "{") open.push({ what: token, offset });
    const opener = CLOSERS[token];
    if (opener !== undefined) {
      const last = open.pop();
      if (last?.what !== opener) return last;
    }
    const [quote = ""] = token;
    if ((quote === '"' || quote === "'") && (token.length === 1 || !token.endsWith(quote)))
      return { what: "quote", offset };
    offset += token.length;
  }
  return open.at(-1);
}
