import type { StepField } from "@cem/core/text";
import { form, type Match, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { isInWorkspace, isTextFile, loadFile, stemOf } from "../planning/references.ts";
import { cite, type StateDocument } from "../planning/value.ts";
import { call, literal, member, method, object, type Expression } from "../program/expression.ts";
import { entriesOf, readField, readFields, readListed, type Field } from "./fields.ts";

const KIND = "(?: (?:new|json|text|state|test))*(?: file)?";
const NAMED = "(?: (?:called|named))?";
const WRITE = form(`(?:write|save|put|store) {text:quote} (?:to|in|into)${KIND}${NAMED} {file:path}`);
const CREATE = form(
  `(?:write|create|make)${KIND}${NAMED}(?: {file:path})? (?:with|containing)(?: (?:content|contents|text))? {text:quote}`,
);
const APPEND = form("(?:append|add) {text:quote} to(?: end of)?(?: file)? {file:path}");
const CREATE_JSON = form(
  `(?:(?:create|make|initialize|write)${KIND}${NAMED}(?: at)?|save state to) {file:path}(?: (?:with|containing)(?: (?:fields|contents?|following|following fields))?)?(?: :)?(?: {fields})?`,
);

export function planText(phrase: Phrase, plan: Plan): boolean {
  const append = phrase.match(APPEND);
  const found = phrase.match(WRITE) ?? phrase.match(CREATE) ?? append;
  if (found === undefined) return false;
  const isTestFile = /\btest file\b/u.test(phrase.shape);
  const path = found.text("file") || (isTestFile ? "test.txt" : "");
  if (path === "") throw plan.lacks("path", `${cite(phrase.text)} names no file.`);
  const isJson = /\.json$/iu.test(path);
  if (!isInWorkspace(path) || (isJson && (append !== undefined || !/^\s*[[{]/u.test(found.text("text")))))
    return false;
  if (!isTextFile(path)) throw plan.unread(path, `${cite(path)} is not a text file.`);
  const text = found.text("text");
  const content = literal(text);
  plan.makeFolder(path);
  plan.do(plan.callFileSystem(append === undefined ? "writeFile" : "appendFile", literal(path), content));
  plan.lastPath = path;
  // Afterwards "it" refers to the written text, which is not a result of the task.
  if (append === undefined)
    plan.track(content, "content", { words: "content", schema: { type: "string" } }).consumed = true;
  return true;
}

export function planJson(phrase: Phrase, listed: readonly StepField[], plan: Plan): boolean {
  const found = phrase.match(CREATE_JSON);
  const path = found?.text("file") ?? "";
  if (found === undefined || !/\.json$/iu.test(path) || !isInWorkspace(path)) return false;
  const part = found.part("fields");
  const written = part?.literal?.value;
  const fields = part === undefined ? [] : written === undefined ? readFields(part, plan) : [];
  if (fields === undefined) return false;
  const all: Field[] = [...fields, ...readListed(listed, plan)];
  if (all.length === 0 && (typeof written !== "object" || written === null))
    throw plan.lacks("content", `${cite(phrase.text)} says no fields, such as "with step 1 and results []".`);
  const content = typeof written === "object" && written !== null ? literal(written) : object(entriesOf(all));
  const value = plan.declare(content, { words: stemOf(path) });
  plan.addDocument(path, value, true);
  return true;
}

const IN_FILE = "(?: (?:to|in|of) {file:path})?";
const SET = form(
  `(?:update|set|change|modify) (?:{path:path} : (?:set|update|change) )?{fields}(?: in {file:path})?`,
);
const NOTED = / \( ([\p{L}_]+) \)$/u;
const ADD_FIELD = form(
  `add(?: new)? (?:{field:name} field|field(?: :| called| named)? {name:name}) (?:with|:|=|set to|of)(?: value)? {value}??${IN_FILE}`,
);
const PUSH = form(`(?:add|append|push) {what} to(?: end of)? {list:name}(?<kind> array| list)?${IN_FILE}`);

/** `update status to "completed" and step to 4` */
export function planSet(phrase: Phrase, plan: Plan): boolean {
  const note = NOTED.exec(phrase.shape);
  const found = (note === null ? phrase : phrase.within(0, note.index)).match(SET);
  const part = found?.part("fields");
  const fields = part === undefined ? undefined : readFields(part, plan);
  const document = found === undefined || fields === undefined ? undefined : documentOf(found, plan);
  if (document === undefined || fields === undefined) return false;
  // `Update current_step to 4 (completed)`: the note is not an instruction.
  if (note?.[1] !== undefined) plan.add(`// ${note[1].replaceAll(/[^\x20-\x7E]+/gu, " ")}`);
  for (const field of fields) setField(document, field, plan);
  return true;
}

export function planAddField(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(ADD_FIELD);
  const value = found?.part("value");
  if (found === undefined || value === undefined) return false;
  const field = readField(found.text("field") || found.text("name"), value, plan);
  const document = field === undefined ? undefined : documentOf(found, plan);
  if (field === undefined || document === undefined) return false;
  setField(document, field, plan);
  return true;
}

/** `add the result to the results array` */
export function planPush(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(PUSH);
  const what = found?.part("what");
  if (found === undefined || what === undefined) return false;
  const list = found.text("list");
  if (found.lower("kind") === "" && !found.lower("list").endsWith("s")) return false;
  const item = readField(list, what, plan);
  if (item === undefined || (item.value === undefined && what.literal === undefined)) return false;
  const document = documentOf(found, plan);
  if (document === undefined) return false;
  const target = call("listIn", document.value.expression, literal(list));
  plan.do(method(target, "push", item.expression));
  if (item.value !== undefined) item.value.consumed = true;
  document.isDirty = true;
  return true;
}

function documentOf(found: Match, plan: Plan): StateDocument | undefined {
  const path = found.text("path") || found.text("file");
  if (path === "") return plan.document;
  return /\.json$/iu.test(path) && isInWorkspace(path) ? loadFile(path, plan).document : undefined;
}

/** Sets a field in memory; the file is written after its last change. */
export function setField(document: StateDocument, { key, expression, value }: Field, plan: Plan): void {
  if (key === "__proto__") throw plan.unread(key, `${key} can't be the name of a field.`);
  const target: Expression = member(call("recordOf", document.value.expression), key);
  plan.add(`${target.text} = ${expression.text};`);
  if (value !== undefined) value.consumed = true;
  document.isDirty = true;
}
