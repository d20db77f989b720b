import { type Match, Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { makeFolder } from "../../planning/documents.ts";
import { callFileSystem } from "../../planning/file-system.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { type Expression, literal, template } from "../../program/expression.ts";
import { type Content, readContent, toText, withCase } from "./contents.ts";
import { matchesOf, isJsonPath, lacks, PLACE, placeOf, PLACES, readFiles, withPlaces } from "./places.ts";
import { appendText, writeText } from "./text-files.ts";
import { CREATE, FILE_WORDS, INTO, isBare, SAYS, WRITE } from "./words.ts";

const NOUN = "(content|contents|text|line|message|string|words)?";
const WRITES: readonly Pattern[] = [
  `(${WRITE}) ${NOUN} {content} (back)? (${INTO}) ${PLACE}`,
  `(${WRITE}) (${INTO})? ${PLACE} ${SAYS} {content}`,
  `(${CREATE}) ${PLACE} ${SAYS} {content}`,
  `(${CREATE}) ${PLACE} from {content}`,
].map((text) => new Pattern(text, PLACES));
const EMPTY = new Pattern(`(${CREATE}) (empty ${PLACE} | ${PLACE} with no (content|text))`, PLACES);
const END = "(((to|at) (very)? end of) | to|into|onto|in)";
const APPENDS: readonly Pattern[] = [
  `(append|add|attach|write) (new)? ${NOUN} (with|containing|saying)? {content} (as (new)? line)? ${END} ${PLACE} (as (new)? line)?`,
  `(append|add|attach) (new)? ${NOUN} ${END} ${PLACE} ${SAYS} {content}`,
  `(append|add|attach) (to|at|into) ${PLACE} (new)? ${NOUN} :? {content}`,
].map((text) => new Pattern(text, PLACES));
const COPY = new Pattern(`(copy|duplicate) ((contents|content) of)? {from} (to|into|as) ${PLACE}`, PLACES);
const CASED = new Pattern("{core} in (all)? {case:@case}", FILE_WORDS);
const CHANGES: readonly Pattern[] = [
  new Pattern(
    "(convert|change|turn|transform|put|make) {content} (to|into|in)? (all)? {case:@case}",
    FILE_WORDS,
  ),
  new Pattern("{verb:@verb} {content}", {
    verb: {
      uppercase: "toUpperCase",
      "upper-case": "toUpperCase",
      capitalize: "toUpperCase",
      lowercase: "toLowerCase",
      "lower-case": "toLowerCase",
    },
  }),
];
const BARE = new Pattern(`(${WRITE}) ${NOUN} {content:quote}`);

/** Writes, appends and copies text. */
export const readWrite: Production = (step, plan) => {
  if (!isBare(step)) return refuseListed(step, plan);
  return readWhole({ ...step, span: withPlaces(step.span, plan, true) }, plan);
};

function readWhole(step: Step, plan: Plan): Reading | undefined {
  const cased = CASED.match(step.span);
  const inCase = cased && { ...step, span: cased.span("core") };
  const change = cased?.meaning("case");
  return (
    (inCase &&
      (readAppend(inCase, plan, change) ??
        readText(inCase, plan, change) ??
        readCopy(inCase, plan, change))) ??
    readAppend(step, plan) ??
    readText(step, plan) ??
    readCopy(step, plan) ??
    readChange(step, plan) ??
    refuse(step, plan)
  );
}

function writing(plan: Plan, bonus: number, lower: () => void): Reading {
  return { kind: "write", rank: RANK.tool + bonus, lower: () => plan.keepResults(lower) };
}

function textPlace(match: Match, plan: Plan): string | undefined {
  const path = placeOf(match, plan);
  return path === undefined || isJsonPath(path) ? undefined : path;
}

function contentOf(span: Span, plan: Plan, change: string | undefined): Content | undefined {
  const content = readContent(span, plan);
  return content && change !== undefined ? withCase(content, change) : content;
}

function readText({ span, isOtherwise }: Step, plan: Plan, change?: string): Reading | undefined {
  for (const match of matchesOf(WRITES, span)) {
    const path = textPlace(match, plan);
    const content = path === undefined ? undefined : contentOf(match.span("content"), plan, change);
    if (path !== undefined && content !== undefined)
      return writing(plan, 0.1, () => writeText(plan, path, toText(content)));
  }
  const empty = EMPTY.match(span);
  const emptyPath = empty && textPlace(empty, plan);
  if (emptyPath !== undefined) return writing(plan, 0.1, () => writeText(plan, emptyPath, literal("")));
  const bare = isOtherwise === true ? BARE.match(span) : undefined;
  const { lastPath } = plan;
  if (bare === undefined || lastPath === undefined || isJsonPath(lastPath)) return undefined;
  const content = contentOf(bare.span("content"), plan, change);
  return content && writing(plan, 0.1, () => writeText(plan, lastPath, toText(content)));
}

function readAppend({ span }: Step, plan: Plan, change?: string): Reading | undefined {
  for (const match of matchesOf(APPENDS, span)) {
    const isWrite = span.words[0] === "write";
    if (isWrite && !span.words.includes("end")) continue;
    const path = textPlace(match, plan);
    const content = path === undefined ? undefined : contentOf(match.span("content"), plan, change);
    if (path === undefined || content === undefined) continue;
    return writing(plan, 0.2, () => appendText(plan, path, asLine(toText(content))));
  }
  return undefined;
}

/** A text with a line break at its end. */
function asLine(text: Expression): Expression {
  if (text.kind !== "literal") return template(text, "\n");
  const value = typeof text.value === "string" ? text.value : JSON.stringify(text.value);
  return literal(value.endsWith("\n") ? value : `${value}\n`);
}

function readCopy({ span }: Step, plan: Plan, change?: string): Reading | undefined {
  for (const match of COPY.matches(span)) {
    const [from, ...more] = readFiles(match.span("from")) ?? [];
    const to = placeOf(match, plan);
    if (from === undefined || more.length > 0 || to === undefined || from === to) continue;
    if (change !== undefined) {
      const content = contentOf(match.span("from"), plan, change);
      return content && writing(plan, 0.1, () => writeText(plan, to, toText(content)));
    }
    return writing(plan, 0.1, () => {
      const open = plan.documents.findLast((document) => document.path === from);
      if (open !== undefined) plan.add({ kind: "saved-by-here", document: open });
      makeFolder(plan, to);
      plan.add({ kind: "do", value: callFileSystem(plan, "copyFile", literal(from), literal(to)) });
      plan.lastPath = to;
    });
  }
  return undefined;
}

/** `convert it to upper case`: a text for later steps. */
function readChange({ span }: Step, plan: Plan): Reading | undefined {
  for (const match of matchesOf(CHANGES, span)) {
    const content = readContent(match.span("content"), plan);
    if (content === undefined) continue;
    const changed = withCase(content, match.meaning("case") || match.meaning("verb"));
    return writing(plan, 0, () =>
      plan.declare(toText(changed), { words: "text", schema: { type: "string" } }),
    );
  }
  return undefined;
}

const STARTS = new Set(`${CREATE}|append|add|attach`.split("|"));

/** A step that writes a text file, of which some words mean nothing. */
function refuse({ span, text }: Step, plan: Plan): undefined {
  if (!STARTS.has(span.words[0] ?? "")) return;
  const named = span.tokens.find(({ kind }) => kind === "path")?.text;
  const found = [...WRITES, ...APPENDS]
    .map((pattern) => pattern.match(span))
    .find((match) => match !== undefined);
  const path = (found && placeOf(found, plan)) ?? named;
  if (path === undefined || isJsonPath(path) || !/\.\w{1,5}$/u.test(path)) return;
  const not = found === undefined ? "" : ` "${found.text("content").slice(0, 80)}" was not understood.`;
  throw lacks(text, "content", `Say what to write to ${path}, as one text in quotes.${not}`);
}

function refuseListed(step: Step, plan: Plan): undefined {
  return refuse({ ...step, span: withPlaces(step.span, plan, true) }, plan);
}
