import type { JsonValue } from "@cem/core";
import { PATH } from "../arguments/take-by-role.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findDocumentField, findReference, sameWords } from "../planning/references.ts";
import { isNumeric, type StateDocument } from "../planning/value.ts";
import {
  binary,
  cast,
  type Expression,
  literal,
  member,
  method,
  object,
  type ObjectEntry,
} from "../program/expression.ts";
import { readArithmetic } from "../reading/arithmetic.ts";
import { type FieldAssignment, findJson, readAssignments, readListed } from "../reading/fields.ts";
import { readLooseValue } from "../reading/json.ts";
import { addDocument, documentWords, loadDocument, makeFolder, markChanged, writeJsonFile } from "./files.ts";
import { toExpression } from "./arithmetic.ts";
import type { StepContext } from "./operation.ts";
import { readAggregate } from "./aggregate.ts";

const SAVING =
  /^(?:save|write|store|create|initiali[sz]e|make|set up|put|dump|export|persist|record|generate|re-?write|overwrite)\b/iu;
const READING = /^(?:read|load|open|get|fetch|parse|retrieve|restore|import|continue from|resume from)\b/iu;
const BACK =
  /\b(?:it|them|this|that|everything|(?:the )?(?:updated |new |current |changed |modified |whole )*(?:state|file|data|object|json|workflow|document|changes|contents?))\b/iu;

/** Reads a JSON file into memory. */
export function planLoad({ step, plan }: StepContext): boolean {
  const path = findJsonPath(step.text);
  if (path === undefined || !READING.test(step.text)) return false;
  const open = plan.documents.find((document) => document.path === path);
  if (open !== undefined && !open.isDirty) return true;
  if (open !== undefined) plan.add({ kind: "saved-by-here", document: open });
  loadDocument(plan, path, step.text);
  return true;
}

/** Writes a JSON file: listed fields, an earlier result, or what was changed in memory. */
export function planSave(context: StepContext): boolean {
  const { step, plan } = context;
  if (!SAVING.test(step.text)) return false;
  const { document } = plan;
  const path =
    findJsonPath(step.text) ??
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
  return saveResult(context, path);
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

/** An empty list needs a type before anything can be added to it. */
function typedLiteral(value: JsonValue): Expression {
  return Array.isArray(value) && value.length === 0 ? cast(literal(value), "unknown[]") : literal(value);
}

/** A field's value: a word may mean a result, and a number that a result is bound to be becomes that result. */
function resolveField(assignment: FieldAssignment, plan: Plan): Expression {
  const same = plan.values.findLast(
    (value) =>
      value.constant !== undefined && value.constant === assignment.value && value.document === undefined,
  );
  const isResult = /^(?:result|value|answer|total|sum|output|product|difference|quotient)$/iu.test(
    assignment.key,
  );
  if (same !== undefined && (isResult || sameWords(same.words, assignment.key))) {
    same.consumed = true;
    return same.expression;
  }
  if (assignment.words !== undefined)
    return resolveWords(assignment.words, plan) ?? literal(assignment.value);
  return typedLiteral(assignment.value);
}

/** What words stand for: an earlier result, a sum over a list, a calculation. */
export function resolveWords(words: string, plan: Plan): Expression | undefined {
  const aggregate = readAggregate(words, plan);
  if (aggregate !== undefined) return aggregate.expression;
  const arithmetic = readArithmetic(words);
  if (arithmetic !== undefined) return toExpression(arithmetic, plan, words);
  if (/^(?:the )?(?:current |today's )?(?:timestamp|date and time|time|now)$/iu.test(words))
    return method({ kind: "new", callee: "Date", args: [] }, "toISOString");
  const isPointing =
    /^(?:it|that|this|the\b.*|(?:the )?(?:result|sum|total|product|answer|difference|quotient)|both.*|all.*)$/iu.test(
      words,
    );
  const reference = isPointing ? findReference(words, plan) : undefined;
  if (reference === undefined) return undefined;
  reference.value.consumed = reference.value.document === undefined || reference.value.consumed;
  return reference.expression;
}

/** `save the result to x.json`: one result as it is, several under their names. */
function saveResult({ step, plan }: StepContext, path: string): boolean {
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
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: "content",
      hint: `Say what to save in ${path}: list its fields, or name an earlier result.`,
    });
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

/** Changes fields of the file that is in memory. */
export function planUpdate({ step, plan }: StepContext): boolean {
  const { document } = plan;
  if (document === undefined) return false;
  const text = step.text
    .replace(/\s+in\s+(?:the\s+)?(?:state|file|json|workflow)(?:\s+file)?$/iu, "")
    .replace(/\s*\b(?:in|of)\s+\S+\.json$/iu, "");
  return (
    planPush(text, plan, document) ||
    planAddField(text, step, plan, document) ||
    planIncrement(text, plan, document) ||
    planSetFields(text, step, plan, document) ||
    planRemoveField(text, plan, document)
  );
}

function planPush(text: string, plan: Plan, document: StateDocument): boolean {
  const match =
    /^(?:add|append|push|insert|put)\s+(.+?)\s+(?:to|into|onto|in)\s+(?:the\s+|its\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:array|list|field))?$/iu.exec(
      text,
    );
  const key = match?.[2];
  if (match?.[1] === undefined || key === undefined || /^(?:it|that|file|state|json)$/iu.test(key))
    return false;
  const field = findDocumentField(key, plan);
  if (field === undefined) return false;
  const words = match[1].trim();
  const value =
    resolveWords(words, plan) ?? resolveWords(`the ${words}`, plan) ?? literal(readLooseValue(words));
  plan.add({ kind: "do", value: method(field.expression, "push", value) });
  document.fields.set(field.expression.kind === "member" ? field.expression.key : key, undefined);
  typeEmptyList(document, key, plan);
  markChanged(plan, document);
  return true;
}

/** Gives a list that began empty the type of what is added first. */
function typeEmptyList(document: StateDocument, key: string, plan: Plan): void {
  const declared = plan.block.find(
    (statement) => statement.kind === "const" && statement.name === document.value.name,
  );
  if (declared?.kind !== "const" || declared.value.kind !== "object") return;
  const entry = declared.value.entries.find((one) => "key" in one && sameWords(one.key, key));
  const last = plan.values.findLast((value) => value.document === undefined);
  if (
    entry !== undefined &&
    "key" in entry &&
    entry.value.kind === "as" &&
    last !== undefined &&
    isNumeric(last.schema)
  )
    entry.value = cast(literal([]), "number[]");
}

function planAddField(text: string, step: StepContext["step"], plan: Plan, document: StateDocument): boolean {
  const match =
    /^(?:add|create|insert|include|set)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:(?:fields?|property|key)\s*:?\s*)?(?:called\s+|named\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:field|property|key))?\s*(?::|=|with(?: the)?(?: value)?(?: of)?|set to|equal to|as|to|containing|for)\s*(.+)$/isu.exec(
      text,
    );
  const key = match?.[1];
  const value = match?.[2];
  if (key === undefined || value === undefined) {
    if (step.fields.length === 0 || !/^(?:add|set|update|include)\b/iu.test(text)) return false;
    for (const field of readListed(step.fields))
      setField(plan, document, field.key, resolveField(field, plan), field.value);
    markChanged(plan, document);
    return true;
  }
  if (/^(?:it|the|this|that|result)$/iu.test(key)) return false;
  setField(plan, document, key, resolveWords(value, plan) ?? literal(readLooseValue(value)), undefined);
  markChanged(plan, document);
  return true;
}

function planIncrement(text: string, plan: Plan, document: StateDocument): boolean {
  const match =
    /^(increment|increase|bump|decrement|decrease|reduce)\s+(?:the\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:field|value))?(?:\s+by\s+(\d+(?:\.\d+)?))?$/iu.exec(
      text,
    );
  const field = match?.[2] === undefined ? undefined : findDocumentField(match[2], plan);
  if (match?.[1] === undefined || field === undefined) return false;
  const sign = /^(?:dec|red)/iu.test(match[1]) ? "-" : "+";
  plan.add({
    kind: "assign",
    target: field.expression,
    value: binary(field.expression, sign, literal(Number(match[3] ?? 1))),
  });
  markChanged(plan, document);
  return true;
}

function planSetFields(
  text: string,
  step: StepContext["step"],
  plan: Plan,
  document: StateDocument,
): boolean {
  const match = /^(?:update|set|change|mark|modify|reset|switch|move)\s+(.+)$/isu.exec(text);
  if (match?.[1] === undefined && step.fields.length === 0) return false;
  if (match === null) return false;
  const body = match[1] ?? "";
  const assignments =
    readAssignments(body) ??
    readAssignments(
      body.replace(/^(?:the\s+)?(?:state|file|workflow|json)\s+(?:with|to|so that|by setting)\s+/iu, ""),
    );
  const all = [...(assignments ?? []), ...readListed(step.fields)];
  if (all.length === 0) return false;
  for (const one of all) {
    setField(
      plan,
      document,
      one.key,
      one.words === undefined
        ? typedLiteral(one.value)
        : (resolveWords(one.words, plan) ?? literal(one.value)),
      one.value,
    );
  }
  markChanged(plan, document);
  return true;
}

function planRemoveField(text: string, plan: Plan, document: StateDocument): boolean {
  const match =
    /^(?:remove|delete|drop)\s+(?:the\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?\s+(?:field|property|key)$/iu.exec(
      text,
    );
  if (match?.[1] === undefined) return false;
  plan.add({
    kind: "assign",
    target: member(document.value.expression, match[1]),
    value: { kind: "name", name: "undefined" },
  });
  document.added.add(match[1]);
  markChanged(plan, document);
  return true;
}

function setField(
  plan: Plan,
  document: StateDocument,
  key: string,
  value: Expression,
  known?: JsonValue,
): void {
  const existing =
    [...document.fields.keys()].find((one) => one === key) ??
    [...document.fields.keys()].find((one) => sameWords(one, key));
  if (existing === undefined && !document.isLoaded) document.added.add(key);
  document.fields.set(existing ?? key, known);
  plan.add({ kind: "assign", target: member(document.value.expression, existing ?? key), value });
}

/** The JSON file that a text names. */
export function findJsonPath(text: string): string | undefined {
  const quoted = /["'`]([^"'`\n]+\.json)["'`]/iu.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  for (const match of text.matchAll(new RegExp(PATH.source, "gu")))
    if (/\.json$/iu.test(match[0])) return match[0];
  return undefined;
}
