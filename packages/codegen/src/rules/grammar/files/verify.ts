import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { markNeeded } from "../../planning/documents.ts";
import { callFileSystem } from "../../planning/file-system.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { hasType, type StateDocument } from "../../planning/value.ts";
import { literal, method, not } from "../../program/expression.ts";
import { readTest } from "../conditions/conditions.ts";
import { readKnown, toText } from "./contents.ts";
import { check, findDocument } from "./documents.ts";
import { matchesOf, readFiles, withPlaces } from "./places.ts";
import { log } from "./print.ts";
import { isBare, STATE, WHOLE } from "./words.ts";

const VERB = "(verify|confirm|check|ensure|validate|assert|double-check | (make sure)) (that|if|whether)?";
const EXISTS: readonly Pattern[] = [
  new Pattern(`${VERB} (file|folder|directory|path)? {what} {state:@state} (and {more:@state})?`, states()),
  new Pattern(`${VERB} existence of {what}`),
];
const STATE_FILE = `((${WHOLE})? (${STATE}) (file | ${STATE})?)`;
const FROM_BEFORE = "((from|of) (previous|last|earlier|first) (session|run|step|process))?";
const READABLE: readonly Pattern[] = [
  new Pattern(`${VERB} ((you|we|i|it) (can|could|may))? (read|load|access|open) {what} ${FROM_BEFORE}`),
  new Pattern(
    `${VERB} {what} ((can|could) be (read|loaded|accessed|opened) | (is (readable|accessible))) ${FROM_BEFORE}`,
  ),
];
const CONTAINS = new Pattern(
  `${VERB} {what} (contains|includes|has|says) (text|word|words|line)? {text:quote}`,
);
const HOLDS = new Pattern("(verify|confirm|ensure|validate|assert|double-check | (make sure)) that? {test}");
const IS_STATE = new Pattern(`it | file | ((that|this) file) | ${STATE_FILE}`);

function states() {
  const verbs = "created saved written updated stored".split(" ");
  const be = ["there", "present", "available", "mounted", ...verbs].flatMap((word) => [
    `is ${word}`,
    `was ${word}`,
  ]);
  const been = verbs.map((verb) => `has been ${verb}`);
  const all = ["exists", "exist", ...be, ...been].map((phrase) => [phrase, phrase] as const);
  return { state: Object.fromEntries(all) };
}

/** Checks that a path is there, that a file can be read or holds a text, or that something is as it should be. */
export const readVerify: Production = (step, plan) => {
  if (!isBare(step)) return undefined;
  return (
    readExists(step, plan) ?? readReadable(step, plan) ?? readContains(step, plan) ?? readHolds(step, plan)
  );
};

function verifying(bonus: number, lower: () => void): Reading {
  return { kind: "verify", rank: RANK.plain + bonus, lower };
}

function readExists({ span }: Step, plan: Plan): Reading | undefined {
  for (const match of matchesOf(EXISTS, span)) {
    const path = readTarget(match.span("what"), plan);
    if (path === undefined) continue;
    const found = [match.meaning("state"), match.meaning("more")].filter((state) => state !== "");
    return verifying(0.2, () => {
      const open = findDocument(plan, path);
      if (open !== undefined) markNeeded(plan, open);
      plan.add({ kind: "do", value: callFileSystem(plan, "access", literal(path)) });
      const said = found.length === 0 ? "exists" : found.join(" and ");
      log(plan, literal(`${path} ${said}.`));
    });
  }
  return undefined;
}

/** A file or folder that words name: `/workspace`, `the file`, `the workflow state`. */
function readTarget(span: Span, plan: Plan): string | undefined {
  const [token] = span.trimmed.tokens;
  if (span.trimmed.length === 1 && token?.kind === "path") return token.text;
  const [file, ...more] = readFiles(withPlaces(span, plan)) ?? [];
  if (file !== undefined) return more.length === 0 ? file : undefined;
  return IS_STATE.match(span) ? (plan.document?.path ?? plan.lastPath) : undefined;
}

/** `you can read the state from the previous session`: it was read before this step. */
function readReadable({ span }: Step, plan: Plan): Reading | undefined {
  for (const match of matchesOf(READABLE, span)) {
    const path = readTarget(match.span("what"), plan);
    const document = path === undefined ? undefined : findDocument(plan, path);
    if (document !== undefined) return verifying(0.2, () => tellRead(plan, document));
  }
  return undefined;
}

function tellRead(plan: Plan, document: StateDocument): void {
  if (document.isDirty) markNeeded(plan, document);
  log(plan, literal(`Read ${document.path}.`));
}

function readContains({ span }: Step, plan: Plan): Reading | undefined {
  const match = CONTAINS.match(span);
  const content = match && readKnown(withPlaces(match.span("what"), plan), plan);
  if (match === undefined || content === undefined || !hasType(content.schema, "string")) return undefined;
  const [what, text] = [match.text("what"), match.text("text")];
  return verifying(0.2, () => {
    check(
      plan,
      not(method(toText(content), "includes", literal(text))),
      `${what} does not contain "${text}".`,
    );
    log(plan, literal(`${what} contains "${text}".`));
  });
}

/** `that the result is 5`: anything that can be a condition. */
function readHolds({ span }: Step, plan: Plan): Reading | undefined {
  const match = HOLDS.match(span);
  const test = match && readTest(match.span("test"), plan);
  if (match === undefined || test === undefined) return undefined;
  const said = match.text("test");
  return verifying(0, () => {
    check(plan, not(test.lower()), `It is not so: ${said}.`);
    log(plan, literal(`It is so: ${said}.`));
  });
}
