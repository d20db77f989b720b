import type { JsonValue } from "@cem/core";
import type { Span } from "../../language/token.ts";
import {
  addDocument,
  documentWords,
  makeFolder,
  markChanged,
  writeJsonFile,
} from "../../planning/documents.ts";
import type { Plan } from "../../planning/plan.ts";
import type { StateDocument, Value } from "../../planning/value.ts";
import { literal, object, type ObjectEntry } from "../../program/expression.ts";
import type { Content } from "./contents.ts";
import { saveAs, setField } from "./documents.ts";
import { typedLiteral } from "./fields.ts";
import { lacks } from "./places.ts";
import { isPronoun } from "./save-parts.ts";

/** Writes a content into a JSON file: as a record that later steps can change where it is one. */
export function saveContent(plan: Plan, path: string, text: string, content: Content): void {
  const json = content.constant === undefined ? undefined : parsed(content.constant);
  if (json !== undefined) {
    const isRecord = json !== null && typeof json === "object" && !Array.isArray(json);
    const known = new Map<string, JsonValue | undefined>(isRecord ? Object.entries(json) : []);
    const entries = isRecord
      ? Object.entries(json).map(([key, value]) => ({ key, value: typedLiteral(value) }))
      : undefined;
    saveNew(plan, path, text, entries, known, json);
    return;
  }
  const document = content.value?.document;
  if (document !== undefined) {
    saveAs(plan, document, path);
    return;
  }
  const { expression } = content.lower();
  makeFolder(plan, path);
  plan.add({ kind: "do", value: writeJsonFile(plan, path, expression) });
  plan.lastPath = path;
}

/** Quoted JSON is JSON; any other text is a text in JSON. */
function parsed(constant: JsonValue): JsonValue {
  if (typeof constant !== "string" || !/^\s*[[{]/u.test(constant)) return constant;
  try {
    return JSON.parse(constant) as JsonValue;
  } catch {
    return constant;
  }
}

/** Makes a JSON file that later steps can change. */
export function saveNew(
  plan: Plan,
  path: string,
  text: string,
  entries: readonly ObjectEntry[] | undefined,
  known: Map<string, JsonValue | undefined>,
  json: JsonValue = null,
): void {
  const value = plan.declare(entries === undefined ? literal(json) : object(entries), {
    words: documentWords(path, text),
    schema: { type: Array.isArray(json) ? "array" : "object" },
  });
  for (const entry of entries ?? [])
    if ("key" in entry && !known.has(entry.key)) known.set(entry.key, undefined);
  const document = addDocument(plan, path, value, known, false);
  makeFolder(plan, path);
  markChanged(plan, document);
}

/** The result of a step after the file was read that nothing uses yet. */
export function newestResult(plan: Plan, document: StateDocument): Value | undefined {
  const newest = plan.values.findLast(({ isEffect }) => !isEffect);
  if (newest === undefined || newest.consumed || newest.document !== undefined) return undefined;
  return newest.step > document.value.step ? newest : undefined;
}

/** "Calculate the next step (result + 1) and save it back": it goes where it came from. */
export function returnResult(plan: Plan, document: StateDocument, what: Span, text: string): void {
  const newest = newestResult(plan, document);
  if (newest === undefined || !(what.isEmpty || isPronoun(what) || what.trimmed.lower === "result")) return;
  const key = newest.source ?? (document.fields.has(newest.words) ? newest.words : undefined);
  if (key === undefined)
    throw lacks(text, "it", `Say as which field of ${document.path} to save it: "save it as total".`);
  newest.consumed = true;
  setField(plan, document, key, newest.expression);
}
