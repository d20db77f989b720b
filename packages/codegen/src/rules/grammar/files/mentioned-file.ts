import { readTokens } from "../../language/lexer.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import type { Step } from "../../planning/step.ts";
import { openDocument } from "./documents.ts";
import { isJsonPath, pathOf } from "./places.ts";
import { readText } from "./text-files.ts";
import { CREATE, READ } from "./words.ts";

/** A step that asks about a file, without the words for it. */
export interface MentionedFile {
  step: Step;
  /** Reads the file into memory. */
  open(): void;
}

const FILE_VERBS = new Set(
  `${CREATE}|${READ}|append|copy|duplicate|verify|check|continue|resume`
    .split("|")
    .filter((verb) => verb !== "get"),
);

/** `the average age in people.json`: what is asked of the file once it is open. */
export function readMentionedFile(step: Step, plan: Plan): MentionedFile | undefined {
  const { span } = step;
  const at = span.tokens.findIndex((token) => isData(pathOf(token) ?? ""));
  const path = pathOf(span.at(at));
  const from = at < 1 ? -1 : leadOf(span, at);
  if (path === undefined || from < 0) return undefined;
  const others = span.tokens.filter((token, other) => other !== at && pathOf(token) !== undefined);
  if (FILE_VERBS.has(span.words[0] ?? "") && others.length !== 1) return undefined;
  const [first, file] = [span.at(from), span.at(at)];
  const before = span.source.slice(0, first?.start).trim();
  const after = span.source
    .slice(file?.end)
    .replace(/^\s*[,:]/u, "")
    .trim();
  const isOpen = /\b(?:is|are|was|were)$/iu.test(before) && after.replace(/[?.!]/gu, "") === "";
  const text = [before, isOpen ? "there" : "", after].filter((part) => part !== "").join(" ");
  if (text === "") return undefined;
  return {
    step: { ...step, text, span: readTokens(text) },
    open: () => void (isJsonPath(path) ? openDocument(plan, path, step.text) : readText(plan, path)),
  };
}

function isData(path: string): boolean {
  return isJsonPath(path) || /\.csv$/iu.test(path);
}

/** Where the words before a path begin: `in the file`. Negative when there are none. */
function leadOf(span: Span, at: number): number {
  let from = at - 1;
  while (from >= 0 && /^(?:the|file|json)$/u.test(span.at(from)?.lower ?? "")) from -= 1;
  return /^(?:in|from|of|inside)$/u.test(span.at(from)?.lower ?? "") ? from : -1;
}
