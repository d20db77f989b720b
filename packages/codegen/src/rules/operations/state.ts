import type { JsonValue } from "@cem/core";
import { isVerb, outline, splitWords } from "@cem/text";
import { PATH } from "../arguments/take-by-role.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findReference } from "../planning/references.ts";
import { isNumeric, type StateDocument } from "../planning/value.ts";
import { type Expression, literal, method, object, type ObjectEntry } from "../program/expression.ts";
import { type FieldAssignment, findJson, readAssignments, readListed } from "../reading/fields.ts";
import { addDocument, documentWords, loadDocument, makeFolder, markChanged, writeJsonFile } from "./files.ts";
import type { StepContext } from "./operation.ts";
import { pathsIn } from "./paths.ts";
import { resolveField, resolveWords, setField, typedLiteral } from "./state-fields.ts";

const SAVING =
  /^(?:save|write|store|create|initiali[sz]e|make|set up|put|dump|export|persist|record|generate|re-?write|overwrite)\b/iu;

const READING = /^(?:read|load|open|get|fetch|parse|retrieve|restore|import|continue from|resume from)\b/iu;

/** Verbs that may follow a path without asking for more: `the state … that was saved in a previous session`. */
const LOADING = new Set("read load open state use record report set run start process store save".split(" "));
const BACK =
  /\b(?:it|them|this|that|everything|(?:the )?(?:updated |new |current |changed |modified |whole )*(?:state|file|data|object|json|workflow|document|changes|contents?))\b/iu;

/** Reads a JSON file into memory. */
export function planLoad({ step, plan }: StepContext): boolean {
  const path = findJsonPath(step.text);
  if (path === undefined || !READING.test(step.text)) return false;
  const paths = pathsIn(step.text);
  if (paths.length > 1) {
    if (!paths.every((one) => /\.json$/iu.test(one))) return false;
    for (const one of paths) open(plan, one, step.text);
    return true;
  }
  const after = step.text.slice(step.text.indexOf(path) + path.length);
  const more = splitWords(after).find((word) => isVerb(word) && !LOADING.has(word));
  if (more !== undefined) {
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: more,
      hint: `Make "${after.replace(/^[\s,;"'`]+/u, "").slice(0, 80)}" a step of its own.`,
    });
  }
  open(plan, path, step.text);
  return true;
}

function open(plan: Plan, path: string, text: string): void {
  const known = plan.documents.find((document) => document.path === path);
  if (known !== undefined && !known.isDirty) return;
  if (known !== undefined) plan.add({ kind: "saved-by-here", document: known });
  loadDocument(plan, path, text);
}

/** Writes a JSON file: listed fields, an earlier result, or what was changed in memory. */
export function planSave(context: StepContext): boolean {
  const { step, plan } = context;
  if (!SAVING.test(step.text)) return false;
  const { document } = plan;
  const named = findJsonPath(step.text);
  // Two things in one text file are no state.
  if (named === undefined && /^\p{L}+\s+both\b/iu.test(step.text)) return false;
  const path =
    named ??
    ((BACK.test(step.text) || /^(?:save|store|write)(?: back)?$/iu.test(step.text)) && document !== undefined
      ? document.path
      : unnamedPath(step.text));
  if (path === undefined) return false;
  const open = plan.documents.find((one) => one.path === path);
  const assignments = readSaveFields(step.text, step.fields);
  if (open !== undefined) return saveBack(context, open, assignments);
  const json = assignments === undefined ? findJson(step.text) : undefined;
  if (json !== undefined) return saveNew(plan, path, step.text, toEntries(json.value), json.value);
  if (assignments !== undefined) {
    const entries = assignments.map((one) => ({ key: one.key, value: one }));
    return saveNew(
      plan,
      path,
      step.text,
      entries.map(({ key, value }) => ({ key, value: resolveField(value, plan) })),
      undefined,
      assignments,
    );
  }
  return saveKeys(context, path) || saveResult(context, path);
}

/** `with keys: expression, result`: fields by name, each an earlier result. */
function saveKeys({ step, plan }: StepContext, path: string): boolean {
  const list = /\b(?:with|using|under)\s+(?:the\s+)?(?:keys|fields|properties)\s*:?\s*(.+)$/iu.exec(
    step.text,
  )?.[1];
  if (list === undefined) return false;
  const keys = list
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu)
    .map((key) => key.replace(/^["'`]|["'`.]+$/gu, "").trim());
  const entries = keys.map((key): ObjectEntry => {
    const value = valueForKey(key, plan);
    if (value !== undefined) return { key, value };
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: key,
      hint: `Say what to save as "${key.slice(0, 80)}" in ${path}: a value, or an earlier result.`,
    });
  });
  return saveNew(plan, path, step.text, entries, undefined);
}

function valueForKey(key: string, plan: Plan): Expression | undefined {
  if (/^(?:expression|calculation|formula|operation)$/iu.test(key)) {
    const formula = plan.values.findLast((value) => value.formula !== undefined)?.formula;
    if (formula !== undefined) return literal(formula);
  }
  return resolveWords(key, plan) ?? findReference(key, plan)?.expression;
}

/** `a JSON file` without a name. */
function unnamedPath(text: string): string | undefined {
  const match =
    /\b(?:an?|the|new)\s+(?:new\s+)?(?:(\p{Ll}[\p{L}\p{N}_-]*)\s+)?json\s+file\b(?:\s+(?:called|named)\s+["'`]?([\p{L}\p{N}_-]+))?/iu.exec(
      text,
    );
  return match === null ? undefined : `/workspace/${match[2] ?? match[1]?.toLowerCase() ?? "data"}.json`;
}

function readSaveFields(text: string, fields: StepContext["step"]["fields"]): FieldAssignment[] | undefined {
  const listed = fields.length > 0 ? readListed(fields) : [];
  const afterWith =
    /\b(?:with|containing|that contains|contains|having|the following)\s+(?:the\s+)?(?:following\s+)?(?:(?:fields?|content|contents|data|values|keys)\s*:?\s+)?(?::\s*)?(.+)$/isu.exec(
      text,
    )?.[1] ??
    /\.json["'`]?\s*:\s*(.+)$/isu.exec(text)?.[1] ??
    /\bthe following\s*:?\s*(.+)$/isu.exec(text)?.[1];
  const inline =
    afterWith === undefined
      ? undefined
      : readAssignments(afterWith.replace(/\s+(?:to|in|into)\s+\S+\.json["'`]?$/iu, ""));
  const all = [...(inline ?? []), ...listed];
  return all.length > 0 ? all : undefined;
}

/** The file is in memory already: set what the text says and write it back. */
function saveBack(
  { plan }: StepContext,
  document: StateDocument,
  assignments: readonly FieldAssignment[] | undefined,
): boolean {
  const newest = plan.values.findLast(
    (value) => value.document === undefined && !value.consumed && !value.isEffect && isNumeric(value.schema),
  );
  const source = newest === undefined ? undefined : findFieldFor(newest.words, newest.source, document);
  if (
    newest !== undefined &&
    source !== undefined &&
    newest.step > document.value.step &&
    newest.source !== undefined
  ) {
    newest.consumed = true;
    setField(plan, document, source, newest.expression);
  }
  for (const assignment of assignments ?? [])
    setField(plan, document, assignment.key, resolveField(assignment, plan), assignment.value);
  markChanged(plan, document);
  return true;
}

/** "Calculate the next step (result + 1) and save it back": it goes where it came from. */
function findFieldFor(
  words: string,
  source: string | undefined,
  document: StateDocument,
): string | undefined {
  return source ?? (document.fields.has(words) ? words : undefined);
}

function saveNew(
  plan: Plan,
  path: string,
  text: string,
  entries: ObjectEntry[] | undefined,
  json: JsonValue | undefined,
  assignments: readonly FieldAssignment[] = [],
): boolean {
  const fields = new Map<string, JsonValue | undefined>(
    assignments.map((one) => [one.key, one.words === undefined ? one.value : undefined]),
  );
  if (json !== undefined && json !== null && typeof json === "object" && !Array.isArray(json)) {
    for (const [key, value] of Object.entries(json)) fields.set(key, value);
  }
  const value = plan.declare(entries === undefined ? literal(json ?? null) : object(entries), {
    words: documentWords(path, text),
    schema: { type: "object" },
  });
  const document = addDocument(plan, path, value, fields, false);
  makeFolder(plan, path);
  markChanged(plan, document);
  return true;
}

function toEntries(json: JsonValue): ObjectEntry[] | undefined {
  if (json === null || typeof json !== "object" || Array.isArray(json)) return undefined;
  return Object.entries(json).map(([key, value]) => ({ key, value: typedLiteral(value) }));
}

function noContent(step: string, path: string): Unfilled {
  return new Unfilled({
    step,
    reason: "missing-argument",
    argument: "content",
    hint: `Say what to save in ${path}: list its fields, or name an earlier result.`,
  });
}

/** `save the result to x.json`: one result as it is, several under their names. */
function saveResult({ step, plan }: StepContext, path: string): boolean {
  if (outline(step.text).includes("{")) throw noContent(step.text, path);
  const words = step.text
    .replace(SAVING, "")
    .replace(
      /\b(?:to|in|into|as|at)\s+(?:the\s+)?(?:(?:json\s+)?file\s+)?(?:called\s+|named\s+)?\S+\.json.*$/iu,
      "",
    )
    .trim();
  const results = plan.values.filter((value) => !value.isEffect && !value.consumed);
  const wantsAll = /\b(?:both|all(?: the)? results|everything|results)\b/iu.test(words) && results.length > 1;
  const listed = words
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu)
    .filter((part) => part !== "" && !/^(?:its\s+|the\s+)?metadata$/iu.test(part));
  const references = wantsAll
    ? results.map((value) => ({ value, expression: value.expression, schema: value.schema }))
    : listed.map(
        (part) =>
          findReference(part, plan) ??
          (plan.last &&
          (BACK.test(part) || /^(?:both|all|everything|(?:both |all |the )*results)$/iu.test(part))
            ? { value: plan.last, expression: plan.last.expression, schema: plan.last.schema }
            : undefined),
      );
  const chosen =
    references.length === 0 && plan.last !== undefined
      ? [{ value: plan.last, expression: plan.last.expression, schema: plan.last.schema }]
      : references;
  if (chosen.length === 0 || chosen.some((one) => one === undefined)) {
    const content = words.replace(/\s+(?:to|in|into|as)$/iu, "");
    const asked = content !== "" && plan.ask(`get ${content}`) ? plan.last : undefined;
    if (asked === undefined) throw noContent(step.text, path);
    chosen.splice(0, chosen.length, { value: asked, expression: asked.expression, schema: asked.schema });
  }
  const found = chosen.filter((one) => one !== undefined);
  const [only] = found;
  makeFolder(plan, path);
  if (/\bmetadata\b/iu.test(words) || found.length > 1) {
    const entries: ObjectEntry[] = found.map((one) => ({
      key: found.length === 1 ? "result" : one.value.words.replaceAll(" ", "_"),
      value: one.expression,
    }));
    if (/\bmetadata\b/iu.test(words)) {
      if (only?.value.formula !== undefined)
        entries.unshift({ key: "calculation", value: literal(only.value.formula) });
      entries.push({
        key: "saved_at",
        value: method({ kind: "new", callee: "Date", args: [] }, "toISOString"),
      });
    }
    for (const one of found) one.value.consumed = true;
    const value = plan.declare(object(entries), {
      words: documentWords(path, words),
      schema: { type: "object" },
    });
    markChanged(plan, addDocument(plan, path, value, new Map(), false));
    return true;
  }
  if (only === undefined) return false;
  plan.add({ kind: "do", value: writeJsonFile(plan, path, only.expression) });
  plan.lastPath = path;
  return true;
}

/** The JSON file that a text names. */
export function findJsonPath(text: string): string | undefined {
  const quoted = /["'`]([^"'`\n]+\.json)["'`]/iu.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  for (const match of text.matchAll(new RegExp(PATH.source, "gu")))
    if (/\.json$/iu.test(match[0])) return match[0];
  return undefined;
}
