import { findQuotes } from "@cem/text";
import { toJson } from "../arguments/convert.ts";
import type { Plan } from "../planning/plan.ts";
import { Unfilled } from "../planning/plan.ts";
import { findDocumentField, findReference } from "../planning/references.ts";
import { hasType, isNumeric, type Value } from "../planning/value.ts";
import {
  call,
  type Expression,
  literal,
  member,
  name,
  object,
  type ObjectEntry,
} from "../program/expression.ts";
import { callFileSystem, markNeeded } from "./files.ts";
import { readAggregate } from "./aggregate.ts";
import { useHelper } from "./helpers.ts";
import { COUNT } from "../reading/row-order.ts";
import { readText } from "./text-file.ts";
import { isForTool, type StepContext } from "./operation.ts";

const PRINTING =
  /^(?:print|log|display|output|show|echo|console\.log|report|tell|return|give|present|state)(?:\s+(?:me|us|out|back))*\b\s*:?\s*/iu;

/** Prints earlier results, fields of a file, or a message. */
export function planPrint(context: StepContext): boolean {
  const { step, plan } = context;
  const match = PRINTING.exec(step.text);
  if (match === null) return false;
  const words = step.text.slice(match[0].length).trim();
  const isSure = /^(?:print|log|output|echo|display|console)/iu.test(match[0]);
  if (!isSure && isForTool(context)) return false;
  const aggregate = isSure ? undefined : readAggregate(words, plan);
  if (aggregate !== undefined) {
    plan.declare(aggregate.expression, { words: aggregate.words, schema: { type: "number" } });
    return true;
  }
  if (isUnreadFile(words, plan) && plan.lastPath !== undefined) {
    readText(plan, plan.lastPath);
    if (!isSure) return true;
  }
  const field = readMessage(words, plan) === undefined ? fieldOfFile(words, plan) : undefined;
  const expression =
    readMessage(words, plan) ?? field ?? readPrinted(words, plan) ?? askFor(words, isSure, plan);
  if (expression === undefined) {
    if (!isSure) return false;
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: "value",
      hint: `There is nothing before this step that "${words.slice(0, 60)}" could mean.`,
    });
  }
  if (expression.kind === "literal") plan.printed = expression;
  if (isSure) plan.add({ kind: "do", value: call(member(name("console"), "log"), expression) });
  return true;
}

/** `print the name`, right after a JSON file was read: whether it holds a record or a list shows when it runs. */
function fieldOfFile(words: string, plan: Plan): Expression | undefined {
  const { document } = plan;
  const newest = plan.values.at(-1);
  const match =
    /^(?:(?:only|just|the|its|their|all|each|every)\s+)*["'`]?([\p{L}_][\p{L}\p{N}_]*)["'`]?(?:\s+(?:field|property|value))?(?:\s+(?:of|in|from)\s+(?:it|them|each|all|each of them|the file|each (?:one|person|entry|item|row|record)))?$/iu.exec(
      words,
    )?.[1];
  if (match === undefined || document === undefined || newest !== document.value) return undefined;
  if (!document.isLoaded || document.isDirty || document.fields.size > 0 || WHOLE.test(match))
    return undefined;
  document.value.consumed = true;
  const value = plan.declare(call(useHelper("fieldOf"), document.value.expression, literal(match)), {
    words: match,
  });
  return call(useHelper("toText"), value.expression);
}

const WHOLE =
  /^(?:it|this|that|them|those|everything|all|contents?|state|workflow|file|summary|json|document|data|object|results?|output|values?|rows?|items?|entries|list|text|average|mean|sum|total|count|number|\p{L}+est)$/iu;

/** `print the weather in Oslo`: what is to be printed has to be asked for first. */
function askFor(words: string, isSure: boolean, plan: Plan): Expression | undefined {
  if (!isSure || words === "" || !plan.ask(`get ${words}`)) return undefined;
  const asked = plan.values.at(-1);
  return asked && printable(asked.expression, asked.schema);
}

/** `show its contents`, right after the file was written. */
function isUnreadFile(words: string, plan: Plan): boolean {
  const asksForFile =
    /^(?:(?:the |its |their |that |whole |full )*(?:contents?|file|text)(?: of (?:it|the file|that file))?|what(?:['’]s| is| was)? (?:in|inside|written (?:in|to)) (?:it|the file|that file)|what it (?:says|contains))$/iu.test(
      words,
    );
  const newest = plan.values.at(-1);
  return asksForFile && plan.document === undefined && (newest === undefined || newest.isEffect);
}

function readMessage(words: string, plan: Plan): Expression | undefined {
  const [quote] = findQuotes(words);
  if (quote !== undefined && !/\b(?:field|property|key|value of)\b/iu.test(words))
    return literal(quote.value);
  const confirmation =
    /^(?:an?\s+|the\s+|that\s+)?(?:(?:short|success|final|simple)\s+)?(?:confirmation|success|completion|status)(?:\s+message)?(?:\s+(?:that|when|once|after|if|saying|of))?\s*(.*)$/iu.exec(
      words,
    ) ?? /^(?:a\s+)?message\s+(?:that|saying|confirming|when|once)(?:\s+that)?\s+(.+)$/iu.exec(words);
  if (confirmation === null) return undefined;
  const about = confirmation[1]?.replace(/[.!]+$/u, "").trim() ?? "";
  const path = plan.document?.path ?? plan.lastPath;
  if (about === "") return literal(path === undefined ? "Done." : `Saved ${path}.`);
  const sentence = about.charAt(0).toUpperCase() + about.slice(1);
  return literal(`${sentence}${path !== undefined && /\bsaved\b$/iu.test(about) ? ` to ${path}` : ""}.`);
}

/** `the names of the first two`: rows have to be cut first. */
const LIMITED = new RegExp(`\\b(?:first|last|top)\\s+${COUNT}\\b`, "iu");

function readPrinted(words: string, plan: Plan): Expression | undefined {
  if (LIMITED.test(words)) return undefined;
  const text = words
    .replace(/\s+(?:to|on|in) (?:the )?(?:console|screen|terminal|stdout|output)$/iu, "")
    .replace(/^(?:out\s+)?/iu, "");
  const listed = /\(([^()]+)\)\s*$/u.exec(text)?.[1];
  const { document } = plan;
  if (listed !== undefined && document !== undefined) {
    const entries = listed.split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu).map((part): ObjectEntry | undefined => {
      const field = findDocumentField(part.replace(/^(?:all|the|its)\s+/iu, ""), plan);
      return field?.expression.kind === "member"
        ? { key: field.expression.key, value: field.expression }
        : undefined;
    });
    if (entries.every((entry) => entry !== undefined)) return toJson(object(entries));
  }
  const about = text
    .replace(/\s*\([^()]*\)\s*$/u, "")
    .replace(/^(?:a |the )?(?:summary|report|overview|details|list) of (?:the )?/iu, "the ");
  if (
    document !== undefined &&
    /\b(?:state|workflow|file|summary|json|document|contents?|data|object)\b/iu.test(about) &&
    plan.values.at(-1)?.isEffect !== true
  ) {
    const field = /\bfield\b/iu.test(about)
      ? findDocumentField(about.replace(/\b(?:of|in) the .*/iu, ""), plan)
      : undefined;
    const latest = plan.values.at(-1);
    const isNewer =
      latest !== undefined &&
      latest.document === undefined &&
      /^(?:the )?contents?$/iu.test(about) &&
      hasType(latest.schema, "string");
    if (!isNewer) return toJson(field?.expression ?? document.value.expression);
  }
  const aggregate = readAggregate(about, plan);
  if (aggregate !== undefined) return printable(aggregate.expression, { type: "number" });
  const results = plan.values.filter(
    (value) => !value.isEffect && !value.consumed && value.document === undefined,
  );
  if (
    /^(?:both|all|the|everything|them|all the|both the)?\s*(?:of them|results|values|answers|everything|both|them|all)$/iu.test(
      about,
    ) &&
    results.length > 1
  ) {
    return toJson(object(results.map((value) => ({ key: value.name, value: value.expression }))));
  }
  const parts = about
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu)
    .filter((part) => part !== "")
    .slice(0, 20);
  const references = parts.map((part) => findReference(part, plan));
  if (references.length > 1 && references.every((one) => one !== undefined)) {
    return toJson(object(references.map((one) => ({ key: one.value.name, value: one.expression }))));
  }
  const reference = findReference(about, plan) ?? contentReference(about, plan);
  return reference === undefined ? undefined : printable(reference.expression, reference.schema);
}

/** "the content", "it", or nothing at all: the newest result. */
function contentReference(words: string, plan: Plan): Value | undefined {
  const isVague =
    words === "" ||
    /^(?:the |its |their |file |whole |full )*(?:contents?|results?|output|answer|values?|text|file|data|response|message|list|rows|summary|what .*|entries|names)(?:\s+(?:of|from|back|read).*)?$/iu.test(
      words,
    );
  return isVague ? plan.last : undefined;
}

/** What `console.log` shows best: text and numbers as they are, the rest as JSON. */
export function printable(expression: Expression, schema: Value["schema"]): Expression {
  if (hasType(schema, "string") || isNumeric(schema) || hasType(schema, "boolean")) return expression;
  return Object.keys(schema).length === 0 ? call(useHelper("toText"), expression) : toJson(expression);
}

/** Checks that a path is there, that a file was written, or that a value is what it should be. */
export function planVerify(context: StepContext): boolean {
  const { step, plan } = context;
  const match =
    /^(?:verify|confirm|check|ensure|make sure|validate|assert|double-check)\b\s*(?:that\s+|if\s+|whether\s+)?(.*)$/isu.exec(
      step.text,
    );
  if (match === null || isForTool(context)) return false;
  const words = match[1] ?? "";
  const path =
    /(?<![\p{L}\p{N}.])(\/[\p{L}\p{N}_.@/-]*[\p{L}\p{N}_-]|[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_.-]+)*\.[a-z][a-z0-9]{0,4})(?![\p{L}\p{N}])/iu.exec(
      words,
    )?.[1];
  const { document } = plan;
  const canRead =
    /\b(?:read|load|access|open)(?:able)?\b/iu.test(words) &&
    document !== undefined &&
    (path === undefined || path === document.path);
  if (canRead) {
    if (document.isDirty) markNeeded(plan, document);
    log(plan, `Read ${document.path}.`);
    return true;
  }
  const target =
    path ??
    (/\b(?:file|state|json|it|workflow)\b/iu.test(words) &&
    /\b(?:created|exists?|saved|written|there|present|updated)\b/iu.test(words)
      ? (document?.path ?? plan.lastPath)
      : undefined);
  if (target !== undefined && !/\b(?:contains|equals)\b/iu.test(words)) {
    const open = plan.documents.find((one) => one.path === target);
    if (open !== undefined) markNeeded(plan, open);
    plan.add({ kind: "do", value: callFileSystem(plan, "access", literal(target)) });
    log(plan, /\bmounted\b/iu.test(words) ? `${target} exists and is mounted.` : `${target} exists.`);
    return true;
  }
  return false;
}

function log(plan: Plan, message: string): void {
  plan.add({ kind: "do", value: call(member(name("console"), "log"), literal(message)) });
}
