import type { Plan } from "../planning/plan.ts";
import { findDocumentField, sameWords } from "../planning/references.ts";
import { isNumeric, type StateDocument } from "../planning/value.ts";
import { binary, cast, literal, member, method } from "../program/expression.ts";
import { readAssignments, readListed } from "../reading/fields.ts";
import { readLooseValue } from "../reading/json.ts";
import { readNumber } from "../reading/phrase.ts";
import { markChanged } from "./files.ts";
import type { StepContext } from "./operation.ts";
import { resolveField, resolveWords, setField, typedLiteral } from "./state-fields.ts";

/** Changes fields of the file that is in memory. */
export function planUpdate({ step, plan }: StepContext): boolean {
  const { document } = plan;
  if (document === undefined) return false;
  const text = step.text
    .replace(/\s+in\s+(?:the\s+)?(?:state|file|json|workflow)(?:\s+file)?$/iu, "")
    .replace(/\s*\b(?:in|of)\s+\S+\.json$/iu, "");
  return (
    planPush(text, plan, document) ||
    planIncrement(text, plan, document) ||
    planSetFields(text, step, plan, document) ||
    planAddField(text, step, plan, document) ||
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
    /^(increment|increase|bump|decrement|decrease|reduce)\s+(?:the\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:field|value))?(?:\s+by\s+(\S+))?$/iu.exec(
      text,
    );
  const field = match?.[2] === undefined ? undefined : findDocumentField(match[2], plan);
  const amount = readNumber(match?.[3] ?? "1");
  if (match?.[1] === undefined || field === undefined || amount === undefined) return false;
  const sign = /^(?:dec|red)/iu.test(match[1]) ? "-" : "+";
  plan.add({
    kind: "assign",
    target: field.expression,
    value: binary(field.expression, sign, literal(amount)),
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

/** `store it as total`: an earlier result becomes a field. */
export function planStoreAs({ step, plan }: StepContext): boolean {
  const { document } = plan;
  if (document === undefined) return false;
  const match =
    /^(?:save|store|record|put|keep|write)\s+(.+?)\s+(?:as|under)\s+(?:the\s+|an?\s+)?(?:(?:new\s+)?(?:field|property|key)\s+)?(?:called\s+|named\s+)?["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:field|property|key))?$/iu.exec(
      step.text,
    );
  const key = match?.[2];
  if (match?.[1] === undefined || key === undefined || /^(?:json|text|file|state)$/iu.test(key)) return false;
  const value = resolveWords(match[1], plan);
  if (value === undefined) return false;
  setField(plan, document, key, value, undefined);
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
