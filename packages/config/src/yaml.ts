import { Lexer, LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, ErrorCode, Pair, YAMLMap } from "yaml";
import { CemError, type KnownErrorCode } from "@cem/core";
import { dottedPath, getPath, listProblems } from "./layer.ts";
import type { Position } from "./layer.ts";

export { dottedPath, getPath, type Position };

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
  const problems: YamlProblem[] = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    message: MESSAGES[code] ?? "can't be read as YAML",
    ...at(pos[0]),
  }));
  if (problems.length > 0) {
    const unclosed = findUnclosed(text);
    if (unclosed !== undefined) return failed([{ message: unclosedAs(text[unclosed]), ...at(unclosed) }]);
    const misindented = findMisindented(document.errors, text);
    if (misindented === undefined) return failed(problems);
    return failed([{ message: MESSAGES.BAD_INDENT ?? "", ...at(misindented) }]);
  }
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
    const uses = isTooMuch ? "aliases (*…) for more than it may hold" : "<<: with what is no map";
    return failed([{ message: `uses ${uses}` }]);
  }
}

/**
 * Finds the wrongly indented line, since the parser reports only what follows from it: a value that continues there, or
 * its spaces.
 */
function findMisindented(errors: Document.Parsed["errors"], text: string): number | undefined {
  const goesOn = errors.find(({ code }) => code === "MULTILINE_IMPLICIT_KEY");
  if (goesOn !== undefined && errors.some(({ code }) => code === "BLOCK_AS_IMPLICIT_KEY"))
    return goesOn.pos[1];
  return errors.find(({ code, pos }) => code === "MISSING_CHAR" && text.slice(...pos).trim() === "")?.pos[0];
}

function unclosedAs(opener: string | undefined): string {
  return opener === "[" || opener === "{"
    ? `lacks a closing bracket: a ${opener} is opened here and not closed with ${opener === "[" ? "]" : "}"}`
    : "lacks a closing quote: one begins here and does not end";
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

/** Tokens of the lexer that have no characters in the text. */
const MARKS = new Set(["\u0002", "\u0018", "\u001F"]);
const FLOW_ERROR = "\u0018";
const CLOSERS: Readonly<Record<string, string>> = { "]": "[", "}": "{" };

/** Finds the first unclosed bracket or quote of a YAML text: the parser reports where it noticed, often far below. */
function findUnclosed(text: string): number | undefined {
  const open: number[] = [];
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === FLOW_ERROR) return open.at(-1);
    if (MARKS.has(token)) continue;
    if (token === "[" || token === "{") open.push(offset);
    const opener = CLOSERS[token];
    if (opener !== undefined) {
      const last = open.pop();
      if (last === undefined || text[last] !== opener) return last;
    }
    const [quote = ""] = token;
    if ((quote === '"' || quote === "'") && (token.length === 1 || !token.endsWith(quote))) return offset;
    offset += token.length;
  }
  return open.at(-1);
}

/** A problem in the content of a document. */
export interface ContentProblem extends YamlProblem {
  /** The path of the value: `steps[2].config.code`. Empty for the whole. */
  path: string;
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

/** Describes the issues of a schema validation. Of a union's options, the one that matched furthest is assumed to be meant. */
function describeIssues(issues: readonly unknown[]): { path: PropertyKey[]; message: string }[] {
  return (issues as readonly Issue[]).flatMap(({ code, path, message, keys = [], errors = [] }) => {
    if (code === "unrecognized_keys")
      return keys.map((key) => ({ path: [...path, key], message: "is not known here" }));
    const furthest = errors
      .map((option) => describeIssues(option))
      .toSorted((one, other) => depthOf(other) - depthOf(one))
      .at(0);
    if (code !== "invalid_union" || furthest === undefined || depthOf(furthest) === 0)
      return [{ path, message }];
    return furthest.map((one) => ({ path: [...path, ...one.path], message: one.message }));
  });
}

function depthOf(found: readonly { path: readonly PropertyKey[] }[]): number {
  return Math.max(0, ...found.map(({ path }) => path.length));
}

const MAX_DEFINITION_BYTES = 1024 * 1024;

/** A schema of Zod, or of Zod mini. */
interface Checker<Output> {
  safeParse(
    value: unknown,
    options: { reportInput: false },
  ): { success: true; data: Output } | { success: false; error: { issues: readonly unknown[] } };
}

/** Reads a definition written by people, such as a form or a workflow, and collects its problems. */
export class DefinitionProblems {
  readonly #found: ContentProblem[] = [];
  readonly #code: KnownErrorCode;
  readonly #file: string;
  #at: YamlDocument["at"] = () => ({});

  /**
   * @param code - The code of the error that all methods throw, which lists each problem with its line.
   * @param file - The file's name, for messages.
   */
  constructor(code: KnownErrorCode, file: string) {
    this.#code = code;
    this.#file = file;
  }

  /** Reads the definition from YAML or JSON. */
  read(text: string): unknown {
    this.checkSize(Buffer.byteLength(text));
    const { value, problems, at } = readYaml(text);
    // Further problems mostly result from the first.
    this.#found.push(...problems.slice(0, 1).map((problem) => ({ path: "", ...problem })));
    if (problems.length === 0 && value === undefined) this.add([], "is empty.");
    this.throwIfAny();
    this.#at = at;
    this.#checkNumbers(value, []);
    this.throwIfAny();
    return value;
  }

  /**
   * Adds problems of values that YAML reads as numbers and would change, such as a phone number or a postcode without
   * quotes.
   */
  #checkNumbers(value: unknown, path: readonly PropertyKey[]): void {
    if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value))
        this.#checkNumbers(item, [...path, Array.isArray(value) ? Number(key) : key]);
    const { source = "" } = typeof value === "number" ? this.#at(path) : {};
    if (/^(?:\+|-?0\d)/u.test(source) || (/^-?\d+$/u.test(source) && !Number.isSafeInteger(value)))
      this.add(path, "is a number that loses its +, its first 0 or digits: put it in quotes.");
  }

  checkSize(bytes: number): void {
    if (bytes > MAX_DEFINITION_BYTES)
      this.add(
        [],
        `has ${bytes} bytes, and ${MAX_DEFINITION_BYTES} are the most. Put data into other files.`,
      );
    this.throwIfAny();
  }

  /** Adds a problem of the value at a path, with its position or that of the nearest enclosing value that has one. */
  add(path: readonly PropertyKey[], message: string): void {
    this.#found.push({ path: dottedPath(path), message, ...this.#at(path).position });
  }

  /** Validates a value against a schema and adds its problems. @returns the parsed value; `undefined` when it is invalid. */
  check<Output>(schema: Checker<Output>, value: unknown, path: readonly PropertyKey[] = []) {
    const checked = schema.safeParse(value, { reportInput: false });
    if (checked.success) return checked.data;
    for (const { path: own, message } of describeIssues(checked.error.issues))
      this.add([...path, ...own], `${message}.`);
    return undefined;
  }

  throwIfAny(): void {
    if (this.#found.length === 0) return;
    const message = listProblems(this.#found, ({ line }) =>
      line === undefined ? this.#file : `${this.#file}:${line}`,
    );
    throw new CemError(this.#code, message, { details: { file: this.#file, problems: this.#found } });
  }
}

/** Finds a cycle of dependencies, as names: the last is the first again. `undefined` when there is none. */
export function findCircle(needs: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    /** The path from the start; each node with its dependencies that are still to be visited. */
    const way: { name: string; open: string[] }[] = [];
    const enter = (name: string): void => {
      way.push({ name, open: [...(needs.get(name) ?? [])] });
    };
    if (!done.has(start)) enter(start);
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const next = last.open.pop();
      if (next === undefined) {
        done.add(last.name);
        way.pop();
        continue;
      }
      const at = way.findIndex(({ name }) => name === next);
      if (at !== -1) return [...way.slice(at).map(({ name }) => name), next];
      if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}
