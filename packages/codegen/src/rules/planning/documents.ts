import type { JsonValue } from "@cem/core";
import { camelCase } from "../program/names.ts";
import { type Expression, literal, method, name, template } from "../program/expression.ts";
import { toJson } from "./convert.ts";
import { callFileSystem } from "./file-system.ts";
import type { Plan } from "./plan.ts";
import type { StateDocument, Value } from "./value.ts";

/** `JSON.parse(await readFile(path, "utf8"))` */
function readJsonFile(plan: Plan, path: string): Expression {
  return method(name("JSON"), "parse", callFileSystem(plan, "readFile", literal(path), literal("utf8")));
}

/** `await writeFile(path, JSON text with a line break at its end)` */
export function writeJsonFile(plan: Plan, path: string, value: Expression): Expression {
  return callFileSystem(plan, "writeFile", literal(path), template(toJson(value), "\n"));
}

/** Makes the folder of a path, unless the workspace itself is it. */
export function makeFolder(plan: Plan, path: string): void {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (folder === "" || folder === "." || folder === "/workspace" || !path.includes("/")) return;
  const made = callFileSystem(plan, "mkdir", literal(folder), {
    kind: "object",
    entries: [{ key: "recursive", value: literal(true) }],
  });
  plan.add({ kind: "do", value: made });
}

/** What a variable for a file's content is called: after the file, or `state` when the text says so. */
export function documentWords(path: string, text: string): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[a-z0-9]+$/iu, "");
  if (/\bstate\b/iu.test(text) || /state/iu.test(stem)) return "state";
  return camelCase(stem.replaceAll(/[_.-]+/gu, " ")) || "data";
}

/** Opens a JSON file into memory. */
export function loadDocument(plan: Plan, path: string, text: string): StateDocument {
  const value = plan.declare(readJsonFile(plan, path), { words: documentWords(path, text) });
  return addDocument(plan, path, value, new Map(), true);
}

/** Keeps a value in memory as the content of a JSON file; it is written after its last change. */
export function addDocument(
  plan: Plan,
  path: string,
  value: Value,
  fields: Map<string, JsonValue | undefined>,
  isLoaded: boolean,
): StateDocument {
  const document: StateDocument = { path, value, fields, isDirty: !isLoaded, isLoaded, added: new Set() };
  value.document = document;
  plan.documents.push(document);
  plan.lastPath = path;
  return document;
}

/** Marks the place up to which a document has changed. */
export function markChanged(plan: Plan, document: StateDocument): void {
  document.isDirty = true;
  plan.add({ kind: "save", document });
}

/** Marks a place where the document has to be on disk. */
export function markNeeded(plan: Plan, document: StateDocument): void {
  plan.add({ kind: "saved-by-here", document });
}
