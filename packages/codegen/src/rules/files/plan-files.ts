import type { StepField } from "@cem/core/text";
import { form, listOf, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { isInWorkspace, loadFile } from "../planning/references.ts";
import { cite } from "../planning/value.ts";
import { call, literal, object } from "../program/expression.ts";
import { readWhat } from "./fields.ts";
import { planSave } from "./save.ts";
import { planAddField, planJson, planPush, planSet, planText } from "./write.ts";

const PRINT = "(?:print|log|output|display|show)";
const CONFIRM = form(
  "(?:print|log|output|display|show|write) confirmation(?: message)?(?: (?:that|of|when|once) {message})?",
);
const STATE = form(
  `${PRINT} (?:(?:current|updated|final|new|whole) )?(?:state|contents? of file|contents?|summary(?: of(?: completed)? (?:workflow|state|results?))?)(?: \\( {fields} \\))?`,
);
const WHAT = form("(?:print|log|output|display) {what}(?: to (?:console|screen|terminal))?");
const EXISTS = form(
  "(?:verify|check|confirm|ensure)(?: that)? (?:{file:path} exists(?<mounted> and is mounted)?|file (?:was created|exists))",
);
const READABLE = form(
  "(?:verify|check|confirm|ensure)(?: that)? (?:you can|can|it is possible to) read state(?: file)?(?: from previous session)?",
);

/** Confirmations are printed after their steps: a step that fails ends the program before. */
function planConfirmation(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(CONFIRM);
  if (found === undefined) return false;
  plan.flush();
  const message = found.part("message")?.text ?? "done";
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  plan.print({ expression: literal(sentence), schema: { type: "string" } });
  return true;
}

/** `print the current state (step, results)` */
function planState(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(STATE);
  const document = plan.document?.value;
  if (found === undefined || document === undefined) return false;
  const part = found.part("fields");
  if (part === undefined) {
    plan.print(document);
    return true;
  }
  const keys = listOf(part).map(({ shape, words }) =>
    shape.startsWith("all ") ? words.replace(/^all /iu, "") : words,
  );
  if (!keys.every((key) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(key)))
    throw plan.unread("fields", `${cite(part.text)} names no fields of a state.`);
  const fields = keys.map((key) => ({ key, value: call("fieldOf", document.expression, literal(key)) }));
  plan.print({ expression: object(fields), schema: { type: "object" } });
  return true;
}

/** `verify /workspace exists and is mounted` */
function planCheck(phrase: Phrase, plan: Plan): boolean {
  const exists = phrase.match(EXISTS);
  const document = plan.document;
  const path = exists?.text("file") || (document?.path ?? "");
  if (exists !== undefined && isInWorkspace(path)) {
    plan.flush();
    plan.do(plan.callFileSystem("access", literal(path)));
    const said = exists.lower("mounted") === "" ? "exists" : "exists and is mounted";
    plan.print({ expression: literal(`${path} ${said}.`), schema: { type: "string" } });
    return true;
  }
  if (phrase.match(READABLE) === undefined || document === undefined) return false;
  plan.print({ expression: literal(`Read ${document.path}.`), schema: { type: "string" } });
  return true;
}

function planWhat(phrase: Phrase, plan: Plan): boolean {
  const what = phrase.match(WHAT)?.part("what");
  const saved = what === undefined ? undefined : readWhat(what, plan);
  if (saved === undefined) return false;
  plan.print(saved);
  return true;
}

const SAVED =
  "(?: (?:that was )?(?:saved|written) (?:in|by|from|during) (?:previous|earlier|last|first) (?:session|step|run))?";
const READ = form(
  `(?:read|load|open|show|display)(?: (?:contents?|text|state|workflow|data|json|file|json file|text file))*(?: (?:from|in|of))?(?: file)? {file:path}(?: file)?${SAVED}`,
);
const READ_SEVERAL = form("(?:read|load|open)(?: files)? {files}");
const READ_BACK = form("read (?:it|file|that|content)(?: back)?(?: again)?");

/** Plans a step that reads, writes, changes or prints workspace files; `false` if it does not. */
export function planFiles(phrase: Phrase, fields: readonly StepField[], plan: Plan): boolean {
  const [hadChanged, dirty] = [plan.hasChanged, countDirty(plan)];
  plan.hasChanged = false;
  const isDone =
    planRead(phrase, plan) ||
    planText(phrase, plan) ||
    planJson(phrase, fields, plan) ||
    planPush(phrase, plan) ||
    planAddField(phrase, plan) ||
    planSet(phrase, plan) ||
    planSave(phrase, fields, plan) ||
    planConfirmation(phrase, plan) ||
    planState(phrase, plan) ||
    planCheck(phrase, plan) ||
    planWhat(phrase, plan);
  const changes = plan.hasChanged || countDirty(plan) > dirty;
  plan.hasChanged ||= hadChanged;
  if (isDone && plan.isQuestion && changes)
    throw plan.unread(
      "?",
      `${cite(phrase.text)} is a question, and would change a file. Say it as an order.`,
    );
  return isDone;
}

function countDirty({ documents }: Plan): number {
  return documents.filter(({ isDirty }) => isDirty).length;
}

function planRead(phrase: Phrase, plan: Plan): boolean {
  const one = phrase.match(READ)?.text("file") ?? (phrase.match(READ_BACK) && plan.lastPath);
  const several = listOf(phrase.match(READ_SEVERAL)?.part("files") ?? phrase.slice(0, 0));
  const isList =
    several.length > 0 && several.every(({ tokens }) => tokens.length === 1 && tokens[0]?.kind === "path");
  const paths = one !== undefined ? [one] : isList ? several.map(({ words }) => words) : [];
  if (paths.length === 0 || !paths.every(isInWorkspace)) return false;
  plan.flush();
  const words = /\bstate\b/u.test(phrase.shape) ? "state" : undefined;
  for (const path of paths) loadFile(path, plan, words);
  return true;
}
