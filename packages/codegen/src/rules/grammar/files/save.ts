import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { markChanged } from "../../planning/documents.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { isNumeric } from "../../planning/value.ts";
import type { ObjectEntry } from "../../program/expression.ts";
import { type Content, readContent, readKnown, wholeContent } from "./contents.ts";
import { findDocument, openOrMake, saveNow, setField } from "./documents.ts";
import {
  type Assignment,
  lowerField,
  readAssignments,
  readFieldValue,
  readListed,
  toEntry,
} from "./fields.ts";
import {
  matchesOf,
  hasTooMany,
  isJsonPath,
  jsonMatches,
  lacks,
  PLACE,
  placeOf,
  PLACES,
  withPlaces,
} from "./places.ts";
import { isPronoun, readAll, readKeys, readParts } from "./save-parts.ts";
import { newestResult, returnResult, saveContent, saveNew } from "./save-state.ts";
import { CREATE, INTO, isBare, STATE, WHOLE, WRITE } from "./words.ts";

const FIELDS =
  "((with|containing|having) | ((that|which) (contains|has)) | :) (following)? (fields|field|keys|values|data|content|contents)? :?";
const WITH_FIELDS: readonly Pattern[] = [
  `(${CREATE}) ({what})? (back)? (${INTO}) ${PLACE} ${FIELDS} {fields}?`,
  `(${CREATE} | (set up)) ${PLACE} ${FIELDS} {fields}?`,
  `(${CREATE}) {what} ${FIELDS} {fields} (${INTO}) ${PLACE}`,
  `(${CREATE}) ({what})? (back)? (${INTO}) ${PLACE}`,
].map((text) => new Pattern(text, PLACES));
const WITH_KEYS = new Pattern(
  `(${WRITE}) {what}? (${INTO}) ${PLACE} (with|using|under) (following)? (keys|fields|properties) :? {keys}`,
  PLACES,
);
const WITH_VALUE: readonly Pattern[] = [
  `(${WRITE}) (list|array|object|json|data|value|text)? {what} (as json)? (back)? (${INTO}) ${PLACE}`,
  `(${WRITE}) (back)? (${INTO}) ${PLACE} (:)? {what}?`,
  `(${CREATE}) ${PLACE} (with|containing|from) (this|following)? (content|contents|data|json)? :? {what}`,
  `(${WRITE}) {about} (${INTO}) ${PLACE} :? {what:json}`,
  `(${WRITE}) {what} (${INTO}) ${PLACE} ((together|along) with) {more}`,
].map((text) => new Pattern(text, PLACES));
const KEY = "(new)? (field|property|key)? (called|named)? {key:name} (field|property|key)?";
const AS_FIELD: readonly Pattern[] = [
  `(${WRITE}|keep) {value} (as|under) ${KEY} ((${INTO}) ${PLACE})?`,
  `(${WRITE}|keep) {value} (${INTO}) ${PLACE} (as|under) ${KEY}`,
  `(${WRITE}) (new)? (field|property|key) (called|named)? {key:name} (with|for | (that (is|has)) | @joint) {value} ((${INTO}) ${PLACE})?`,
].map((text) => new Pattern(text, PLACES));
const BACK: readonly Pattern[] = [
  new Pattern(`(${WRITE}) (back)?`),
  new Pattern(`(${WRITE}) {what} (back)?`),
  new Pattern(`(${WRITE}) {what} back (${INTO}) (same)? (file | ((json)? file) | disk)`),
];
const STATE_WORDS = new Pattern(
  `(it | them | everything | changes | result | results | ((${WHOLE})? (${WHOLE})? (${STATE} | contents | content | file) (${STATE} | file)?)) (as json)?`,
);

const STARTS = new Set(`${CREATE}|keep|set`.split("|"));

/** Writes a JSON file: fields, JSON of the text, earlier results, or what was changed in memory. */
export const readSave: Production = (step, plan) => {
  if (!STARTS.has(step.span.trimmed.at(0)?.lower ?? "")) return undefined;
  const whole = { ...step, span: withPlaces(step.span, plan, true) };
  if (hasTooMany(whole.span)) return undefined;
  for (const read of [readAsField, readKeyed, readFielded, readValued, readBack, refuse]) {
    const reading = read(whole, plan);
    if (reading !== undefined) return reading;
  }
  return undefined;
};

function saving(bonus: number, lower: () => void): Reading {
  return { kind: "save", rank: RANK.tool + bonus, lower };
}

/** `store it as total`, `write the average as "average" to x.json`. */
function readAsField(step: Step, plan: Plan): Reading | undefined {
  if (!isBare(step)) return undefined;
  for (const match of matchesOf(AS_FIELD, step.span)) {
    const key = match.text("key");
    const value =
      match.span("value").at(0)?.kind === "path" ? undefined : readFieldValue(match.span("value"), plan);
    if (value === undefined || /^(?:json|text|it|file)$/iu.test(key)) continue;
    const named = match.has("place") || match.has("quoted") || match.has("same");
    const path = named ? placeOf(match, plan) : plan.document?.path;
    if (path === undefined && !named)
      throw lacks(step.text, "path", `Say in which JSON file "${key}" is to be saved.`);
    if (path === undefined || !isJsonPath(path)) continue;
    return saving(0.4, () => {
      const expression = value.lower();
      const document = openOrMake(plan, path, step.text);
      setField(plan, document, key, expression, value.constant);
      markChanged(plan, document);
    });
  }
  return undefined;
}

/** `with keys: expression, result`: fields by name, each an earlier result. */
function readKeyed(step: Step, plan: Plan): Reading | undefined {
  if (!isBare(step)) return undefined;
  for (const { match, path } of jsonMatches([WITH_KEYS], step.span, plan)) {
    if (!isGeneric(match.span("what"))) continue;
    const entries = readKeys(match.span("keys"), path, step.text, plan);
    return saving(0.2, () => saveNew(plan, path, step.text, entries(), new Map()));
  }
  return undefined;
}

function isGeneric(what: Span): boolean {
  return (
    what.isEmpty ||
    what.list.every((part) => STATE_WORDS.match(part) !== undefined || part.lower === "metadata")
  );
}

/** Fields that the step names, or that are listed below it. */
function readFielded(step: Step, plan: Plan): Reading | undefined {
  if (step.items.length > 0) return undefined;
  for (const { match, path } of jsonMatches(WITH_FIELDS, step.span, plan)) {
    const inline = match.has("fields") ? readAssignments(match.span("fields"), plan) : [];
    const listed = readListed(step.fields, step.text, plan);
    if (inline === undefined || inline.length + listed.length === 0) continue;
    const reading = saveFields(step, plan, path, match.span("what"), [...inline, ...listed]);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

function saveFields(
  step: Step,
  plan: Plan,
  path: string,
  what: Span,
  fields: readonly Assignment[],
): Reading | undefined {
  const open = findDocument(plan, path);
  const isMade = /^(?:create|make|generate|initiali[sz]e|prepare|set)$/u.test(step.span.words[0] ?? "");
  if (open !== undefined && !isMade) {
    if (!isGeneric(what)) return undefined;
    return saving(0.3, () => {
      returnResult(plan, open, what, step.text);
      for (const one of fields) setField(plan, open, one.key, lowerField(one, plan), one.value.constant);
      saveNow(plan, open);
    });
  }
  const more = isGeneric(what) ? named(what, fields, plan) : readParts(what, plan);
  if (more === undefined) return undefined;
  return saving(0.3, () => {
    const known = new Map(fields.map(({ key, value }) => [key, value.constant] as const));
    saveNew(plan, path, step.text, [...more(), ...fields.map((one) => toEntry(one, plan))], known);
  });
}

/** "save it to x.json with step: 1" saves the result, too, unless a field is it. */
function named(what: Span, fields: readonly Assignment[], plan: Plan): () => ObjectEntry[] {
  const result = plan.values.findLast(({ isEffect, document }) => !isEffect && document === undefined);
  const asks = what.list.some((part) => isPronoun(part) || part.trimmed.lower === "result");
  return () => {
    const isListed = fields.some(
      ({ key }) => /^(?:result|value|answer)$/iu.test(key) || key === result?.words,
    );
    if (!asks || isListed || result === undefined || result.consumed) return [];
    result.consumed = true;
    return [{ key: "result", value: result.expression }];
  };
}

/** JSON of the text, one result as it is, several under their names. */
function readValued(step: Step, plan: Plan): Reading | undefined {
  if (!isBare(step)) return undefined;
  for (const { match, path } of jsonMatches(WITH_VALUE, step.span, plan)) {
    const [what, about] = [match.span("what"), match.span("about")];
    if (!(isGeneric(about) || isPronoun(about))) continue;
    const reading = match.has("more")
      ? saveMore(step, plan, path, what, match.span("more"))
      : saveWhat(step, plan, path, what);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

/** `save it to x.json together with today's date`. */
function saveMore(step: Step, plan: Plan, path: string, what: Span, more: Span): Reading | undefined {
  const [first, second] = [readParts(what, plan), readParts(more, plan)];
  if (first === undefined || second === undefined) return undefined;
  return saving(0.1, () => saveNew(plan, path, step.text, [...first(), ...second()], new Map()));
}

function saveWhat(step: Step, plan: Plan, path: string, what: Span): Reading | undefined {
  const open = findDocument(plan, path);
  const isChange = what.isEmpty || (isGeneric(what) && what.list.length === 1);
  if (open !== undefined && isChange) {
    const newest = newestResult(plan, open);
    if (newest === undefined || isNumeric(newest.schema) || !(what.isEmpty || isPronoun(what)))
      return saving(0.2, () => {
        returnResult(plan, open, what, step.text);
        saveNow(plan, open);
      });
  }
  const asFields = (parts: () => ObjectEntry[]): Reading =>
    saving(0.1, () => saveNew(plan, path, step.text, parts(), new Map()));
  const asWhole = (content: Content): Reading =>
    saving(0.1, () => saveContent(plan, path, step.text, content));
  if (what.isEmpty) return plan.last && asWhole(wholeContent(plan.last));
  const all = readAll(what, plan);
  if (all !== undefined) return asFields(all);
  const known = readKnown(what, plan) ?? stateContent(what, plan);
  if (known !== undefined) return asWhole(known);
  const parts = readParts(what, plan, readKnown);
  if (parts !== undefined) return asFields(parts);
  const asked = readContent(what, plan);
  if (asked !== undefined) return asWhole(asked);
  const several = readParts(what, plan);
  return several && asFields(several);
}

function stateContent(what: Span, plan: Plan): Content | undefined {
  const { document } = plan;
  if (document === undefined || STATE_WORDS.match(what) === undefined) return undefined;
  return wholeContent(document.value);
}

/** `save it back`, `save the changes`: the file in memory. */
function readBack(step: Step, plan: Plan): Reading | undefined {
  const { document } = plan;
  if (document === undefined) return undefined;
  const fields = readListed(step.fields, step.text, plan);
  if (step.items.length > 0) return undefined;
  for (const pattern of BACK) {
    const match = pattern.match(step.span);
    const what = match?.span("what");
    if (match === undefined || what === undefined || !isGeneric(what) || what.lower === "results") continue;
    const reading = fields.length > 0 ? saveFields(step, plan, document.path, what, fields) : undefined;
    return (
      reading ??
      saving(0.2, () => {
        returnResult(plan, document, what, step.text);
        saveNow(plan, document);
      })
    );
  }
  return undefined;
}

/** A step that writes a JSON file, of which some words mean nothing. */
function refuse(step: Step, plan: Plan): undefined {
  for (const { match, path } of jsonMatches(WITH_VALUE, step.span, plan)) {
    const words = match.text("what") || match.text("more");
    const not = words === "" ? "" : `"${words.slice(0, 80)}" was not understood. `;
    const hint = `${not}Say what to save in ${path}: list its fields, or name an earlier result.`;
    throw lacks(step.text, words || "content", hint);
  }
}
