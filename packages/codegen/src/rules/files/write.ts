import type { StepField } from "@cem/core/text";
import { form, type Phrase } from "../language/phrase.ts";
import { isInWorkspace, isTextFile, stemOf } from "../planning/load.ts";
import type { Plan } from "../planning/plan.ts";
import { cite } from "../planning/unfilled.ts";
import { literal, object } from "../program/expression.ts";
import { entriesOf, type Field, readFields, readListed } from "./fields.ts";

const KIND = "(?: (?:new|json|text|state|test))*(?: file)?";
const NAMED = "(?: (?:called|named))?";
const WRITE = form(`(?:write|save|put|store) {text:quote} (?:to|in|into)${KIND}${NAMED} {file:path}`);
const CREATE = form(
  `(?:write|create|make)${KIND}${NAMED}(?: {file:path})? (?:with|containing)(?: (?:content|contents|text))? {text:quote}`,
);
const APPEND = form("(?:append|add) {text:quote} to(?: end of)?(?: file)? {file:path}");
const CREATE_JSON = form(
  `(?:create|make|initialize|write)${KIND}${NAMED}(?: at)? {file:path}(?: (?:with|containing)(?: (?:fields|contents?|following|following fields))?)?(?: :)?(?: {fields})?`,
);

/** Plans a step that writes a text, or makes a JSON file with fields; `false` where it does not. */
export function planWrite(phrase: Phrase, listed: readonly StepField[], plan: Plan): boolean {
  return planText(phrase, plan) || planJson(phrase, listed, plan);
}

function planText(phrase: Phrase, plan: Plan): boolean {
  const append = phrase.match(APPEND);
  const found = phrase.match(WRITE) ?? phrase.match(CREATE) ?? append;
  if (found === undefined) return false;
  const isTestFile = /\btest file\b/u.test(phrase.shape);
  const path = found.text("file") || (isTestFile ? "test.txt" : "");
  if (path === "") throw plan.lacks("path", `${cite(phrase.text)} names no file.`);
  const isJson = /\.json$/iu.test(path);
  if (!isInWorkspace(path) || (isJson && (append !== undefined || !/^\s*[[{]/u.test(found.text("text")))))
    return false;
  if (!isTextFile(path)) throw plan.unread(path, `${cite(path)} is no file of text.`);
  const text = found.text("text");
  const content = literal(text);
  plan.makeFolder(path);
  plan.add({
    kind: "do",
    value: plan.callFileSystem(append === undefined ? "writeFile" : "appendFile", literal(path), content),
  });
  plan.lastPath = path;
  // What was written is what "it" means afterwards, and no result of the task.
  if (append === undefined)
    plan.track(content, "content", { words: "content", schema: { type: "string" } }).consumed = true;
  return true;
}

function planJson(phrase: Phrase, listed: readonly StepField[], plan: Plan): boolean {
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
