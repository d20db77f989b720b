import type { JsonSchema } from "@cem/core";
import { splitWords } from "@cem/core/text";
import { call, literal, member, method, name, singular, type Expression } from "../program/expression.ts";
import type { Plan } from "./plan.ts";
import { cite, isNumeric, type Value } from "./value.ts";

const TEXT_FILE = /\.(?:txt|md|log|csv|tsv|json|ya?ml|xml|html?|ts|js|ini|toml)$/iu;
export const ROW_LIST: JsonSchema = { type: "array", items: { type: "object" } };

/** Whether a path is in the workspace, where programs access files directly. */
export function isInWorkspace(path: string): boolean {
  if (/(?:^|\/)\.\.(?:\/|$)/u.test(path)) return false;
  return !/^[/~]/u.test(path) || path === "/workspace" || path.startsWith("/workspace/");
}

export function isTextFile(path: string): boolean {
  return TEXT_FILE.test(path);
}

/** Loads a workspace file: JSON as a document, CSV as rows, anything else as text. */
export function loadFile(path: string, plan: Plan, words?: string): Value {
  const open = plan.documents.find((document) => document.path === path);
  if (open !== undefined) return open.value;
  if (!isTextFile(path))
    throw plan.unread(path, `${cite(path)} is not a text file that a program reads by itself.`);
  plan.lastPath = path;
  const text = plan.callFileSystem("readFile", literal(path), literal("utf8"));
  if (/\.json$/iu.test(path)) {
    const value = plan.declare(method(name("JSON"), "parse", text), { words: words ?? stemOf(path) });
    plan.addDocument(path, value, false);
    return value;
  }
  if (/\.csv$/iu.test(path))
    return plan.declare(call("rowsOfCsv", text), { words: stemOf(path), schema: ROW_LIST });
  return plan.declare(text, { words: "content", schema: { type: "string" } });
}

export function stemOf(path: string): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[a-z0-9]+$/iu, "");
  return /state/iu.test(stem) ? "state" : stem.replaceAll(/[_.-]+/gu, " ");
}

const PRONOUN =
  /^(?:it|that|this|them|these|those|they|result|results|answer|output|data|value|content|contents|there)$/u;
const PLURAL = /^(?:them|these|those|they|results|both|both results|both of them|all results|all of them)$/u;
const ORDINAL = /^(first|second|third|last|previous) (?:result|number|value|answer|one)$/u;
const ALSO = new Map(Object.entries({ total: "sum", mean: "average", max: "maximum", min: "minimum" }));

/** Resolves words to the result of an earlier step: `it`, `the result`, `the sum`, `users`. */
export function referTo(words: string, plan: Plan): Value | undefined {
  const text = words.trim().toLowerCase();
  const results = plan.values.filter(({ isReceipt }) => isReceipt !== true);
  if (PRONOUN.test(text)) return lastMeant(text, plan);
  const ordinal = ORDINAL.exec(text)?.[1];
  if (ordinal !== undefined) {
    const at = ["first", "second", "third"].indexOf(ordinal);
    return at < 0 ? results.at(-1) : results[at];
  }
  const named = results.filter((value) => isCalled(value, text));
  const open = named.filter(({ consumed }) => !consumed);
  if (open.length > 1) throw unclear(text, open, plan);
  return open[0] ?? named.at(-1);
}

function lastMeant(text: string, plan: Plan): Value | undefined {
  const last = plan.values.at(-1);
  if (last?.isReceipt === true && text !== "result" && text !== "output")
    throw plan.unread(
      text,
      `${cite(text)} may mean what ${cite(last.about)} was about, or the answer of the tool. For the answer, say "the result".`,
    );
  return last;
}

function isCalled({ words, document }: Value, text: string): boolean {
  const own = words.toLowerCase();
  return (
    singular(ALSO.get(own) ?? own) === singular(ALSO.get(text) ?? text) ||
    (text === "state" && document !== undefined)
  );
}

function unclear(text: string, values: readonly Value[], plan: Plan): Error {
  const meant = values.slice(0, 3).map(({ about }) => cite(about));
  return plan.unread(
    text,
    `"the ${text}" may mean the result of ${meant.join(" or of ")}. Say which: "the first result" or "the last result".`,
  );
}

/** Resolves `both` or `all results`, if there are that many. */
export function referToAll(words: string, plan: Plan): readonly Value[] | undefined {
  const text = words.trim().toLowerCase();
  if (!PLURAL.test(text)) return undefined;
  const open = plan.values.filter(({ consumed, isReceipt }) => !consumed && isReceipt !== true);
  if (text.startsWith("both")) return open.length === 2 ? open : undefined;
  return text.startsWith("all") && open.length > 1 ? open : undefined;
}

/** A part of an earlier result: `temperature` of the weather, `step` of a file. */
interface Part {
  expression: Expression;
  schema: JsonSchema;
  value: Value;
  key: string;
}

/** The property of the latest record that is named by one of the words. */
export function partOf(words: readonly string[], plan: Plan): Part | undefined {
  for (const value of plan.values.toReversed()) {
    const part = propertyIn(value, words);
    if (part !== undefined) return part;
  }
  return undefined;
}

/** The property of a record. In a file, property names are unknown before the program runs. */
function propertyIn(value: Value, words: readonly string[]): Part | undefined {
  const { document, expression, schema } = value;
  const [field] = words;
  if (document !== undefined && field !== undefined && /^\S+$/u.test(field))
    return { expression: call("fieldOf", expression, literal(field)), schema: {}, value, key: field };
  const said = new Set(words.map((word) => splitWords(word).join(" ")));
  const found = Object.entries(schema.properties ?? {}).find(([key]) => said.has(splitWords(key).join(" ")));
  return found && { expression: member(expression, found[0]), schema: found[1], value, key: found[0] };
}

/** A part as a number. If a file or a tool returns something else, the run fails. */
export function asNumber({ expression, schema, value, key }: Part): Expression {
  if (isNumeric(schema)) return expression;
  return value.document === undefined
    ? call("numberOf", expression)
    : call("numberIn", value.expression, literal(key));
}
