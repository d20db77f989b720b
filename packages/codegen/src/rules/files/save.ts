import type { StepField } from "@cem/core/text";
import { form, type Phrase } from "../language/phrase.ts";
import { FILE_SYSTEM, type Plan } from "../planning/plan.ts";
import { isInWorkspace, stemOf } from "../planning/references.ts";
import { cite, hasType, isNumeric, type StateDocument } from "../planning/value.ts";
import { awaited, call, literal, object } from "../program/expression.ts";
import { entriesOf, readFields, readListed, readWhat, type Field, type Saved } from "./fields.ts";
import { setField } from "./write.ts";

const SAVE = form(
  "(?:save|store|write|put|export)(?: {what})?(?: back)? (?:to|in|into|as)(?: (?:json|text))?(?: file)?(?: (?:called|named))? {file:path}(?: file)?(?: with(?: (?:fields?|values?))?(?: {fields})?)?(?: :)?",
);
const SAVE_STATE = form(
  "(?:save|store|write)(?: (?:it|them|state|changes|file|workflow|updated (?:state|file)|final state|new state|current state))?(?: back)?",
);

export function planSave(phrase: Phrase, listed: readonly StepField[], plan: Plan): boolean {
  const found = phrase.match(SAVE);
  if (found === undefined) return planSaveState(phrase, plan);
  const path = found.text("file");
  if (!isInWorkspace(path)) return false;
  const part = found.part("fields");
  const written = part === undefined ? [] : readFields(part, plan);
  if (written === undefined)
    throw plan.unread("fields", `${cite(part?.text ?? "")} was not understood as fields, such as "step: 1".`);
  const fields = [...written, ...readListed(listed, plan)];
  const what = found.part("what");
  const saved = what === undefined ? lastMade(plan) : readWhat(what, plan);
  if (saved === undefined && (fields.length === 0 || what !== undefined))
    throw plan.lacks(
      "content",
      `${cite(what?.text ?? phrase.text)} is neither the result of an earlier step nor a text in quotes.`,
    );
  if (/\.json$/iu.test(path)) saveJson(saved, fields, path, plan);
  else saveText(saved, fields, path, plan);
  plan.lastPath = path;
  return true;
}

/** `save the updated state`: the file that is open. */
function planSaveState(phrase: Phrase, plan: Plan): boolean {
  if (phrase.match(SAVE_STATE) === undefined) return false;
  const isIt = !/\b(?:state|file|changes|workflow)\b/u.test(phrase.shape);
  const document = isIt ? lastMade(plan)?.value?.document : plan.document;
  if (document === undefined) return false;
  document.isDirty = true;
  plan.flush();
  return true;
}

/** The outcome of the last step: the file that it changed, or the newest result. */
function lastMade(plan: Plan): Saved | undefined {
  const last = plan.values.at(-1);
  const document = plan.document;
  if (document?.isDirty === true && last?.consumed === false && last !== document.value)
    throw plan.unread("it", `${cite(plan.stepText)} may mean the file or ${cite(last.about)}. Say which.`);
  if (document !== undefined && (document.isDirty || last?.consumed !== false))
    return { ...document.value, value: document.value };
  return last === undefined || last.consumed ? undefined : { ...last, value: last };
}

/** Existing objects in JSON files are kept: only the given fields are set. */
function saveJson(saved: Saved | undefined, fields: readonly Field[], path: string, plan: Plan): void {
  const document = plan.documents.find((one) => one.path === path);
  const own = saved?.value?.document;
  if (own !== undefined) {
    // If saved under another name, the first file is not changed.
    own.path = path;
    own.isDirty = true;
    setAll(own, fields, plan);
    return;
  }
  if (fields.length === 0 && document === undefined && !/state/iu.test(stemOf(path))) {
    if (saved !== undefined) plan.do(plan.writeJson(path, saved.expression));
    return;
  }
  const all = saved === undefined ? fields : withResult(saved, fields);
  if (document !== undefined) {
    setAll(document, all, plan);
    if (saved?.value !== undefined) saved.value.consumed = false;
    return;
  }
  plan.import(FILE_SYSTEM, "readFile");
  const before = { spread: awaited(call("readState", literal(path))) };
  const value = plan.declare(object([before, ...entriesOf(all)]), { words: stemOf(path) });
  plan.addDocument(path, value, true);
  plan.flush();
}

/** Adds the fields. A result goes to the field that it was calculated from, else to `result`. */
function withResult(saved: Saved, fields: readonly Field[]): Field[] {
  const { written } = saved;
  if (typeof written === "object" && written !== null && !Array.isArray(written))
    return [
      ...Object.entries(written).map(([key, value]) => ({ key, expression: literal(value) })),
      ...fields,
    ];
  const isSaved = ({ key, value }: Field): boolean =>
    key === "result" || (value !== undefined && value === saved.value);
  if (fields.some(isSaved)) return [...fields];
  const { expression, value } = saved;
  return [{ key: value?.field ?? "result", expression, value }, ...fields];
}

function setAll(document: StateDocument, fields: readonly Field[], plan: Plan): void {
  for (const field of fields) setField(document, field, plan);
  plan.flush();
}

/** Saves text unchanged, numbers as printed, and everything else as JSON; never to a file of another kind. */
function saveText(saved: Saved | undefined, fields: readonly Field[], path: string, plan: Plan): void {
  const { expression, schema = {} } = saved ?? {};
  const isText = hasType(schema, "string") && !hasType(schema, "object", "array");
  const takes = isText ? /\.(?:txt|md|log|csv|html?|xml|ya?ml|ts|js)$/iu : /\.(?:txt|md|log)$/iu;
  if (expression === undefined || fields.length > 0 || !takes.test(path))
    throw plan.unread(path, `A result is saved as .json or .txt; ${cite(path)} is a file of another kind.`);
  const converted = isNumeric(schema) ? call("String", expression) : call("toText", expression);
  plan.makeFolder(path);
  plan.do(plan.callFileSystem("writeFile", literal(path), isText ? expression : converted));
}
