import { type Match, Pattern, type Phrases } from "../../language/pattern.ts";
import { Span, type Token } from "../../language/token.ts";
import { type Plan, Unfilled } from "../../planning/plan.ts";
import { FILE_WORDS } from "./words.ts";

const SAME: Phrases = Object.fromEntries(
  ["it", "file", "that file", "this file", "same file"].map((one) => [one, "same"]),
);
/** A file in a pattern, see {@link placeOf}; the step has to be read {@link withPlaces}. */
export const PLACE = "({place:path} | {quoted:quote} | {same:@same})";
export const PLACES = { ...FILE_WORDS, same: SAME };

const NAMED = new Pattern(
  "(new)? {ending:@ending}? (file|document)? (called|named)? :? {path:path}",
  FILE_WORDS,
);
const CALLED = new Pattern("(new)? {ending:@ending}? file (called|named) {stem:name}", FILE_WORDS);
const KINDS = ["{ending:@ending}?", "{stem:word} {ending:@ending}?"].map(
  (kind) =>
    new Pattern(`{new:@new}? (simple|plain|small)? ${kind} file`, {
      ...FILE_WORDS,
      new: { new: "new", another: "new" },
    }),
);
const LIKE_PATH = /^(?:[^\s]*\/)?[^\s/]+\.[a-z][a-z0-9]{0,4}$/iu;
const NO_STEM = /^(?:this|that|same|its?|json|both|every|each|first|second|last|other|empty)$/u;
const MAX_WORDS = 7;

export function isJsonPath(path: string): boolean {
  return /\.json$/iu.test(path);
}

/** The file that a pattern found. */
export function placeOf(match: Match, plan: Plan): string | undefined {
  if (match.has("place")) return match.span("place").trimmed.at(0)?.text;
  if (!match.has("quoted")) return match.has("same") ? plan.lastPath : undefined;
  const quoted = match.text("quoted");
  return LIKE_PATH.test(quoted) ? quoted : undefined;
}

/**
 * The step with one token for each file: `the file a.txt`, `a JSON file called x.json`, and where files may be made, `a test
 * file`, which is test.txt.
 */
export function withPlaces(span: Span, plan: Plan, mayMake = false): Span {
  const tokens: Token[] = [];
  let from = span.from;
  while (from < span.to) {
    const found = placeAt(span, from, plan, mayMake);
    const token = span.all[from] as Token;
    if (found === undefined) tokens.push(token);
    else {
      const { path, to } = found;
      tokens.push({
        kind: "path",
        text: path,
        lower: path.toLowerCase(),
        start: token.start,
        end: span.all[to - 1]?.end ?? token.end,
      });
    }
    from = found?.to ?? from + 1;
  }
  return new Span(span.source, tokens);
}

function placeAt(
  span: Span,
  from: number,
  plan: Plan,
  mayMake: boolean,
): { path: string; to: number } | undefined {
  if (!/^(?:word|path)$/u.test(span.all[from]?.kind ?? "")) return undefined;
  const last = Math.min(span.to, from + MAX_WORDS);
  for (let to = last; to > from; to -= 1) {
    const { kind, lower } = span.all[to - 1] as Token;
    const isEnd =
      kind === "path" ||
      (mayMake && (lower === "file" || /^(?:called|named)$/u.test(span.all[to - 2]?.lower ?? "")));
    const words = new Span(span.source, span.all, from, to);
    const path = isEnd
      ? (readNamed(words) ?? (mayMake ? (readCalled(words) ?? readKind(words, plan)) : undefined))
      : undefined;
    if (path !== undefined) return { path, to };
  }
  return undefined;
}

function readNamed(span: Span): string | undefined {
  const match = NAMED.match(span);
  const path = match?.text("path");
  const ending = match?.meaning("ending") ?? "";
  if (path === undefined) return undefined;
  return ending === "" || path.endsWith(`.${ending}`) || (ending === "txt" && !isJsonPath(path))
    ? path
    : undefined;
}

/** `a file called report`. */
function readCalled(span: Span): string | undefined {
  const match = CALLED.match(span);
  const stem = match?.text("stem") ?? "";
  if (match === undefined || LIKE_PATH.test(stem)) return match && stem;
  return withEnding(stem, match.meaning("ending"));
}

/** `a test file` is test.txt; `the test file` is the one that was named so. */
function readKind(span: Span, plan: Plan): string | undefined {
  const article = span.at(0)?.lower ?? "";
  if (!/^(?:an?|the|new|another)$/u.test(article)) return undefined;
  const match = KINDS.map((pattern) => pattern.match(span)).find((one) => one !== undefined);
  const [stem, ending] = [match?.text("stem").toLowerCase() ?? "", match?.meaning("ending") ?? ""];
  if (match === undefined || NO_STEM.test(stem) || (article === "the" && stem + ending === ""))
    return undefined;
  const path = withEnding(stem || (ending === "json" ? "data" : ending === "log" ? "log" : "file"), ending);
  if (article === "the") return [...plan.paths].findLast((one) => stemOf(one) === stemOf(path)) ?? path;
  return match.has("new") ? unused(path, plan) : path;
}

function withEnding(stem: string, ending: string): string {
  return ending === "json" ? `/workspace/${stem}.json` : `${stem}.${ending || "txt"}`;
}

/** The file's name without folders and ending. */
export function stemOf(path: string): string {
  return (path.split("/").at(-1) ?? "").replace(/\.[^.]*$/u, "");
}

/** Another file than those that steps named. */
function unused(path: string, { paths }: Plan): string {
  const at = path.lastIndexOf(".");
  let free = path;
  for (let count = 2; paths.has(free); count += 1) free = `${path.slice(0, at)}-${count}${path.slice(at)}`;
  return free;
}

/** Everything that one of some patterns finds in the step. */
export function* matchesOf(patterns: readonly Pattern[], span: Span): Generator<Match> {
  for (const pattern of patterns) yield* pattern.matches(span);
}

/** The same where it names a JSON file. */
export function* jsonMatches(
  patterns: readonly Pattern[],
  span: Span,
  plan: Plan,
): Generator<{ match: Match; path: string }> {
  for (const match of matchesOf(patterns, span)) {
    const path = placeOf(match, plan);
    if (path !== undefined && isJsonPath(path)) yield { match, path };
  }
}

/** The file that a token is, quoted or not. */
export function pathOf(token: Token | undefined): string | undefined {
  if (token?.kind === "path") return token.text;
  return token?.kind === "quote" && typeof token.value === "string" && LIKE_PATH.test(token.value)
    ? token.value
    : undefined;
}

/** More files than a step that changes one can mean. */
export function hasTooMany(span: Span): boolean {
  return span.tokens.filter(({ kind }) => kind === "path").length > 6;
}

/** Several files that words list, and nothing else. */
export function readFiles(span: Span): string[] | undefined {
  const paths = span.list.map((part) => (part.length === 1 ? pathOf(part.at(0)) : undefined));
  const files = paths.filter((path) => path !== undefined);
  return files.length > 0 && files.length === paths.length ? files : undefined;
}

/** Tells that a step about files lacks something, or has a word without a meaning. */
export function lacks(step: string, argument: string, hint: string): Unfilled {
  return new Unfilled({ step, reason: "missing-argument", argument, hint });
}
