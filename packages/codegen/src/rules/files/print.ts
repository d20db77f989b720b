import { form, listOf, type Phrase } from "../language/phrase.ts";
import { isInWorkspace } from "../planning/load.ts";
import type { Plan } from "../planning/plan.ts";
import { cite } from "../planning/unfilled.ts";
import { literal, object } from "../program/expression.ts";
import { useHelper } from "../program/helpers.ts";
import { readWhat } from "./fields.ts";

const PRINT = "(?:print|log|output|display|show)";
const CONFIRM = form(
  "(?:print|log|output|display|show|write) confirmation(?: (?:that|of) {message}| message)?",
);
const STATE = form(
  `${PRINT} (?:(?:current|updated|final|new|whole) )?(?:state|contents? of file|contents?|summary(?: of(?: completed)? (?:workflow|state|results?))?)(?: \\( {fields} \\))?`,
);
const WHAT = form("(?:print|log|output|display) {what}(?: to (?:console|screen|terminal))?");
const EXISTS = form(
  "(?:verify|check|confirm|ensure)(?: that)? {file:path} exists(?<mounted> and is mounted)?",
);
const READABLE = form(
  "(?:verify|check|confirm|ensure)(?: that)? (?:you can|can|it is possible to) read state(?: from previous session)?",
);

/** Plans a step that prints something or checks that a file is there; `false` where it does neither. */
export function planPrint(phrase: Phrase, plan: Plan): boolean {
  return (
    planConfirmation(phrase, plan) ||
    planState(phrase, plan) ||
    planCheck(phrase, plan) ||
    planWhat(phrase, plan)
  );
}

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
  const fields = keys.map((key) => ({ key, value: useHelper("fieldOf", document.expression, literal(key)) }));
  plan.print({ expression: object(fields), schema: { type: "object" } });
  return true;
}

/** `verify /workspace exists and is mounted` */
function planCheck(phrase: Phrase, plan: Plan): boolean {
  const exists = phrase.match(EXISTS);
  const path = exists?.text("file") ?? "";
  const document = plan.document;
  if (exists !== undefined && isInWorkspace(path)) {
    plan.flush();
    plan.add({ kind: "do", value: plan.callFileSystem("access", literal(path)) });
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
