import type { z } from "zod";
import { CemError, type KnownErrorCode } from "@cem/core";
import { dottedPath, listProblems } from "./layer.ts";
import { readYaml, type YamlDocument, type YamlProblem } from "./yaml.ts";

/** A problem in the content of a document. */
export interface ContentProblem extends YamlProblem {
  /** The path of the value: `steps[2].config.code`. Empty for the whole. */
  path: string;
}

/** Describes the issues of a schema validation. Of a union's options, the one that matched furthest is assumed to be meant. */
function describeIssues(issues: readonly z.core.$ZodIssue[]): { path: PropertyKey[]; message: string }[] {
  return issues.flatMap((issue) => {
    const { code, path, message } = issue;
    if (code === "unrecognized_keys")
      return issue.keys.map((key) => ({ path: [...path, key], message: "is not known here" }));
    if (code !== "invalid_union") return [{ path, message }];
    const [furthest = []] = issue.errors
      .map(describeIssues)
      .toSorted((one, other) => depthOf(other) - depthOf(one));
    if (depthOf(furthest) === 0) return [{ path, message }];
    return furthest.map((one) => ({ path: [...path, ...one.path], message: one.message }));
  });
}

function depthOf(found: readonly { path: readonly PropertyKey[] }[]): number {
  return Math.max(0, ...found.map(({ path }) => path.length));
}

const MAX_DEFINITION_BYTES = 1024 * 1024;

interface Checker<Output> {
  safeParse(value: unknown, options: { reportInput: false }): z.core.util.SafeParseResult<Output>;
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

  /** Adds problems of values that YAML reads as numbers and would change, such as a phone number without quotes. */
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
export function findCycle(needs: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  /** The names that are still to be visited: all, and then the dependencies of each name of the path. */
  const open = [[...needs.keys()].toReversed()];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const name = last.pop();
    if (name === undefined) {
      open.pop();
      done.add(path.pop() ?? "");
      continue;
    }
    const at = path.indexOf(name);
    if (at !== -1) return [...path.slice(at), name];
    if (done.has(name)) continue;
    path.push(name);
    open.push([...(needs.get(name) ?? [])]);
  }
  return undefined;
}
