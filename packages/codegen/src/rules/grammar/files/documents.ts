import type { JsonValue } from "@cem/core";
import type { Span } from "../../language/token.ts";
import { addDocument, documentWords, loadDocument, markChanged } from "../../planning/documents.ts";
import { callFileSystem } from "../../planning/file-system.ts";
import { useHelper } from "../../program/helpers.ts";
import { Plan } from "../../planning/plan.ts";
import { findProperty, findReference, sameWords } from "../../planning/references.ts";
import type { Meaning } from "../../planning/reading.ts";
import { hasType, type StateDocument } from "../../planning/value.ts";
import {
  arrow,
  binary,
  call,
  type Expression,
  literal,
  member,
  method,
  name,
  not,
} from "../../program/expression.ts";
import { readValue, referenced } from "../values.ts";

/** The JSON file of a path, if it is in memory. */
export function findDocument(plan: Plan, path: string): StateDocument | undefined {
  return plan.documents.findLast((document) => document.path === path);
}

/** The JSON file of a path, read when it is not in memory yet. */
export function openDocument(plan: Plan, path: string, text: string): StateDocument {
  return findDocument(plan, path) ?? loadDocument(plan, path, text);
}

/** The JSON file of a path, or an empty record where there is no such file yet. */
export function openOrMake(plan: Plan, path: string, text: string): StateDocument {
  const known = findDocument(plan, path);
  if (known !== undefined) return known;
  const read = callFileSystem(plan, "readFile", literal(path), literal("utf8"));
  const file = read.kind === "await" ? read.value : read;
  const fileText: Expression = { kind: "await", value: method(file, "catch", arrow([], literal("{}"))) };
  const value = plan.declare(method(name("JSON"), "parse", fileText), { words: documentWords(path, text) });
  return addDocument(plan, path, value, new Map(), true);
}

/** Reads a file again, after what was changed in memory is written. */
export function reloadDocument(plan: Plan, path: string, text: string): StateDocument {
  const known = findDocument(plan, path);
  if (known !== undefined && !known.isDirty) return known;
  if (known !== undefined) plan.add({ kind: "saved-by-here", document: known });
  return loadDocument(plan, path, text);
}

/** The plan as it will be when a file is open, to read words with; nothing of it gets into the program. */
export function planWith(plan: Plan, path: string, text: string): Plan {
  if (findDocument(plan, path) !== undefined) return plan;
  const copy = new Plan(plan.tools, plan.now);
  copy.values.push(...plan.values);
  copy.documents.push(...plan.documents);
  copy.stepIndex = plan.stepIndex;
  copy.readAsked = plan.readAsked;
  for (const one of plan.paths) copy.paths.add(one);
  loadDocument(copy, path, text);
  return copy;
}

/** Saves a file's content under another path; what is not written to the old one yet is not. */
export function saveAs(plan: Plan, document: StateDocument, path: string): void {
  for (let at = plan.block.length - 1; at >= 0; at -= 1) {
    const one = plan.block[at];
    if (one?.kind === "saved-by-here" && one.document === document) break;
    if (one?.kind === "save" && one.document === document) plan.block.splice(at, 1);
  }
  const copy: StateDocument = { ...document, path };
  document.value.document = copy;
  plan.documents.push(copy);
  plan.lastPath = path;
  saveNow(plan, copy);
}

/** Writes a file here, whatever comes later. */
export function saveNow(plan: Plan, document: StateDocument): void {
  markChanged(plan, document);
  plan.add({ kind: "saved-by-here", document });
}

/** The name of a known field, however it is written. */
export function knownField(document: StateDocument, words: string): string | undefined {
  const keys = [...document.fields.keys()];
  return keys.find((key) => key === words) ?? keys.find((key) => sameWords(key, words));
}

/** A field that has to be there: where that shows only when the program runs, it says so. */
export function requiredField(document: StateDocument, key: string): Expression {
  const known = knownField(document, key);
  if (known !== undefined) return member(document.value.expression, known);
  return call(useHelper("fieldOf"), document.value.expression, literal(key));
}

/** What words name in the file that is in memory, where they name no part of an earlier result. */
interface NamedField {
  document: StateDocument;
  key: string;
  /** A later result holds rows that the words may just as well be about. */
  isRivalled: boolean;
}

function findField(span: Span, plan: Plan): NamedField | undefined {
  const reference = findReference(span.text, plan);
  const document = reference?.value.document;
  if (document === undefined || reference?.expression.kind !== "member") return undefined;
  const { key } = reference.expression;
  const newest = plan.values.findLast(({ isEffect }) => !isEffect);
  const isLater = newest !== undefined && newest.document === undefined && hasType(newest.schema, "array");
  return { document, key, isRivalled: isLater && !document.fields.has(key) };
}

/** A field of the file in memory, looked up so that its lack is told. */
export function readField(span: Span, plan: Plan): Meaning | undefined {
  const field = findField(span, plan);
  if (field === undefined || field.isRivalled) return undefined;
  const property = findProperty(span.text, plan);
  if (property !== undefined && property.value.document === undefined) return referenced(property);
  const { document, key } = field;
  return { schema: {}, words: key, lower: () => requiredField(document, key) };
}

/** Like `readValue`; a field of a file that may not be there is looked up so that its lack is told. */
export function readPointed(span: Span, plan: Plan): Meaning | undefined {
  const meaning = readValue(span, plan);
  const isReference = meaning !== undefined && meaning.words === findReference(span.text, plan)?.value.words;
  return isReference && findField(span, plan) !== undefined ? readField(span, plan) : meaning;
}

/** Sets a field of a file. */
export function setField(
  plan: Plan,
  document: StateDocument,
  key: string,
  value: Expression,
  known?: JsonValue,
): void {
  if (document.isLoaded && document.fields.size === 0) checkRecord(plan, document);
  const existing = knownField(document, key) ?? key;
  if (!document.fields.has(existing) && !document.isLoaded) document.added.add(existing);
  document.fields.set(existing, known);
  plan.add({ kind: "assign", target: member(document.value.expression, existing), value });
}

/** A field of a list would get lost when it is written as JSON. */
function checkRecord(plan: Plan, document: StateDocument): void {
  const isList = call(member(name("Array"), "isArray"), document.value.expression);
  check(plan, isList, `${document.path} holds a list, which has no fields.`);
}

/** A field that has to hold a list or a number, with the check for it where it is not known. */
export function checkedField(
  plan: Plan,
  document: StateDocument,
  key: string,
  type: "list" | "number",
): Expression {
  const known = knownField(document, key);
  const field = member(document.value.expression, known ?? key);
  if (known !== undefined && !document.isLoaded) return field;
  const isMissing =
    type === "list"
      ? not(call(member(name("Array"), "isArray"), field))
      : binary({ kind: "unary", operator: "typeof ", value: field }, "!==", literal("number"));
  check(plan, isMissing, `There is no ${type} "${key}" in ${document.path}.`);
  document.fields.set(known ?? key, undefined);
  return field;
}

/** Stops the program where something is not as the task says. */
export function check(plan: Plan, isWrong: Expression, message: string): void {
  const stop = { kind: "throw", message: literal(message) } as const;
  plan.add({ kind: "if", test: isWrong, body: [stop], otherwise: [] });
}
