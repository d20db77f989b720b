import type { JsonSchema } from "@cem/core";
import { literal, method, name } from "../program/expression.ts";
import { useHelper } from "../program/helpers.ts";
import type { Plan } from "./plan.ts";
import { cite } from "./unfilled.ts";
import type { Value } from "./value.ts";

const TEXT_FILE = /\.(?:txt|md|log|csv|tsv|json|ya?ml|xml|html?|ts|js|ini|toml)$/iu;
const ROWS: JsonSchema = { type: "array", items: { type: "object" } };

/** Whether a path is one of the workspace, where programs read and write files themselves. */
export function isInWorkspace(path: string): boolean {
  if (/(?:^|\/)\.\.(?:\/|$)/u.test(path)) return false;
  return !/^[/~]/u.test(path) || path === "/workspace" || path.startsWith("/workspace/");
}

/** Whether a file holds text, by its ending. */
export function isTextFile(path: string): boolean {
  return TEXT_FILE.test(path);
}

/** Reads a file of the workspace: JSON as a document, CSV as rows, anything else as text. */
export function loadFile(path: string, plan: Plan, words?: string): Value {
  const open = plan.documents.find((document) => document.path === path);
  if (open !== undefined) return open.value;
  if (!isTextFile(path))
    throw plan.unread(path, `${cite(path)} is no file of text that a program reads by itself.`);
  plan.lastPath = path;
  const text = plan.callFileSystem("readFile", literal(path), literal("utf8"));
  if (/\.json$/iu.test(path)) {
    const value = plan.declare(method(name("JSON"), "parse", text), { words: words ?? stemOf(path) });
    plan.addDocument(path, value, false);
    return value;
  }
  if (/\.csv$/iu.test(path))
    return plan.declare(useHelper("rowsOfCsv", text), { words: stemOf(path), schema: ROWS });
  return plan.declare(text, { words: "content", schema: { type: "string" } });
}

/** The name of a file's content, taken from the file's name. */
export function stemOf(path: string): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[a-z0-9]+$/iu, "");
  return /state/iu.test(stem) ? "state" : stem.replaceAll(/[_.-]+/gu, " ");
}
