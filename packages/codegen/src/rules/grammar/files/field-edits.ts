import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { type Meaning, RANK } from "../../planning/reading.ts";
import { isNumeric, type StateDocument } from "../../planning/value.ts";
import { binary, type Expression, literal, member, name } from "../../program/expression.ts";
import { checkedField, knownField, requiredField, setField } from "./documents.ts";
import { type Assignment, lowerField, readAssignment, readAssignments, readFieldValue } from "./fields.ts";
import { matchesOf, lacks } from "./places.ts";
import { FILE_WORDS, STATE, WHOLE } from "./words.ts";

/** Where a change is made. */
export interface EditContext {
  plan: Plan;
  document: StateDocument;
  /** The step in the user's words. */
  step: string;
  /** The step names the file itself. */
  isNamed: boolean;
}

/** Reads one kind of change. */
export type ReadEdit = (span: Span, context: EditContext) => { rank: number; lower(): void } | undefined;

/** More than a calculation with what the field holds, which would change no file. */
export const SURE = RANK.tool + 0.5;
const FIELD = "(field|property|key|value)?";
const SET = new Pattern("(set|update|change|modify|reset|mark|make|switch) {fields}");
const SET_STATE = new Pattern(
  `(set|update|change|modify) ((${WHOLE})? (${STATE}|file) (with | to | (so that) | (by setting))) {fields}`,
);
const MARK = new Pattern(`mark (it | ((${WHOLE})? (${STATE} | file | task))) as {value}`);
const ADD = new Pattern(
  `(add|create|insert|include|set|save|store|write) (new)? (field|property|key) (called | named | :)? {assignment}`,
);
const ADD_NAMED: readonly Pattern[] = [
  new Pattern(
    `(add|create|insert|include|set|save|store|write) (new)? {key:name} (field|property|key) (with|for|containing | (that (is|has)) | @joint) {value}`,
    FILE_WORDS,
  ),
  new Pattern(
    `(add|create|insert|include|set|save|store|write) (new)? (field|property|key) (called|named)? {key:name} (with|for|containing | (that (is|has)) | @joint) {value}`,
    FILE_WORDS,
  ),
  new Pattern(`(add|insert|include) {key:name} (: | = | (with (value)?)) {value}`),
];
const CHANGE: readonly Pattern[] = [
  new Pattern(`{verb:@verb} {key:name} ${FIELD} by {amount:number} {percent:@percent}?`, changes()),
  new Pattern(`{verb:@verb} {key:name} ${FIELD} (by {amount})?`, changes()),
  new Pattern(`{verb:@add} {amount} to {key:name} ${FIELD}`, { add: { add: "+" } }),
];
const REMOVE = new Pattern(
  "(remove|delete|drop) ((field|property|key) {key:name} | {key:name} (field|property|key))",
);
const RENAME = new Pattern(
  "rename (field|property|key)? {from:name} (field|property|key)? (to|as|into) (field|property|key)? {to:name}",
);

function changes() {
  const more = ["increment", "increase", "bump", "raise", "bump up"].map((verb) => [verb, "+"] as const);
  const less = ["decrement", "decrease", "reduce", "lower"].map((verb) => [verb, "-"] as const);
  return {
    verb: Object.fromEntries([...more, ...less]),
    percent: { "%": "percent", percent: "percent" },
  };
}

/** Sets fields in the order in which they are named. */
export function setFields(plan: Plan, document: StateDocument, fields: readonly Assignment[]): void {
  for (const one of fields) setField(plan, document, one.key, lowerField(one, plan), one.value.constant);
}

/** `set status to "closed" and current_step to 4`. */
const readSet: ReadEdit = (span, { plan, document }) => {
  for (const match of matchesOf([SET, SET_STATE], span)) {
    const fields = readAssignments(match.span("fields"), plan);
    if (fields === undefined || fields.every(meansFile)) continue;
    return { rank: RANK.plain + 0.3, lower: () => setFields(plan, document, fields) };
  }
  return undefined;
};

/** `update the state to "done"` is about the file, `update session to 2` about a field. */
function meansFile({ key, value }: Assignment): boolean {
  return isFileWord(key) && typeof value.constant !== "number";
}

function isFileWord(key: string): boolean {
  return new RegExp(`^(?:${STATE}|file|it)$`, "iu").test(key);
}

/** `mark the workflow as completed`: where the file has a status. */
const readMark: ReadEdit = (span, { plan, document }) => {
  const match = MARK.match(span);
  const value = match && readFieldValue(match.span("value"), plan);
  const isKnown = document.isLoaded || knownField(document, "status") !== undefined;
  if (value?.constant === undefined || !isKnown) return undefined;
  return {
    rank: RANK.plain,
    lower() {
      const had = requiredField(document, "status");
      if (had.kind === "call") plan.add({ kind: "do", value: had });
      setField(plan, document, "status", value.lower(), value.constant);
    },
  };
};

/** `add a "total" field with the sum of 2 and 3`. */
const readAddField: ReadEdit = (span, { plan, document }) => {
  for (const match of matchesOf(ADD_NAMED, span)) {
    const value = readFieldValue(match.span("value"), plan);
    const key = match.text("key");
    if (value === undefined || isFileWord(key)) continue;
    return { rank: RANK.plain + 0.4, lower: () => setFields(plan, document, [{ key, value }]) };
  }
  const found = ADD.match(span);
  const assignment = found && readAssignment(found.span("assignment"), plan);
  return assignment && { rank: RANK.plain + 0.4, lower: () => setFields(plan, document, [assignment]) };
};

/** `increase the version by 1`, `reduce the price by 10 %`. */
const readChange: ReadEdit = (span, { plan, document, step, isNamed }) => {
  for (const match of matchesOf(CHANGE, span)) {
    const key = match.text("key");
    const isPercent = match.has("percent");
    const amount = match.has("amount") ? readFieldValue(match.span("amount"), plan) : undefined;
    if (match.has("amount") && !isNumber(amount)) continue;
    const isAdded = span.trimmed.at(0)?.lower === "add";
    if (isAdded && (!isNamed || /s$|^(?:it|that|this|file|list|end)$/iu.test(key))) continue;
    requireKnown(document, key, step);
    return {
      rank: SURE,
      lower() {
        const by = amount?.lower() ?? literal(1);
        const field = checkedField(plan, document, key, "number");
        const part = isPercent ? binary(binary(field, "*", by), "/", literal(100)) : by;
        plan.add({ kind: "assign", target: field, value: binary(field, match.meaning("verb"), part) });
      },
    };
  }
  return undefined;
};

function isNumber(meaning: Meaning | undefined): boolean {
  if (meaning === undefined) return false;
  return meaning.constant === undefined ? isNumeric(meaning.schema) : typeof meaning.constant === "number";
}

/** A field that a file made here does not have can't be changed. */
export function requireKnown(document: StateDocument, key: string, step: string): void {
  if (document.isLoaded || knownField(document, key) !== undefined) return;
  const hint = `${document.path} has no ${key}. It has ${[...document.fields.keys()].slice(0, 30).join(", ")}.`;
  throw lacks(step, key, hint);
}

const readRemove: ReadEdit = (span, { plan, document, step }) => {
  const match = REMOVE.match(span);
  if (match === undefined) return undefined;
  const key = match.text("key");
  requireKnown(document, key, step);
  return { rank: RANK.plain + 0.3, lower: () => removeField(plan, document, key) };
};

function removeField(plan: Plan, document: StateDocument, key: string): void {
  const value = requiredField(document, key);
  if (value.kind === "call") plan.add({ kind: "do", value });
  const field = fieldOf(document, key);
  plan.add({ kind: "assign", target: field, value: name("undefined") });
  document.added.add(key);
  document.fields.delete(knownField(document, key) ?? key);
}

function fieldOf(document: StateDocument, key: string): Expression {
  return member(document.value.expression, knownField(document, key) ?? key);
}

const readRename: ReadEdit = (span, { plan, document, step }) => {
  const match = RENAME.match(span);
  if (match === undefined) return undefined;
  const [from, to] = [match.text("from"), match.text("to")];
  requireKnown(document, from, step);
  return {
    rank: RANK.plain + 0.3,
    lower() {
      setField(plan, document, to, requiredField(document, from), document.fields.get(from));
      plan.add({ kind: "assign", target: fieldOf(document, from), value: name("undefined") });
      document.added.add(from);
      document.fields.delete(knownField(document, from) ?? from);
    },
  };
};

export const FIELD_EDITS: readonly ReadEdit[] = [
  readMark,
  readSet,
  readAddField,
  readChange,
  readRemove,
  readRename,
];
