import type { GenerateRequest, ToolDefinition } from "@cem/core";
import { isStopWord, SMALL_TALK } from "@cem/core/text";
import { DEMANDING_WORDS } from "../phrases.ts";
import { isSmall, readTokens, type Token } from "../language/lexer.ts";
import { createRulesGenerator } from "../rules-generator.ts";

/** Words that stand for others of their kind: each is replaced by the first of its list that it is not. */
const KINDS: readonly (readonly string[])[] = [
  "sum average maximum".split(" "),
  "mean median".split(" "),
  "total count".split(" "),
  "highest lowest".split(" "),
  "largest smallest".split(" "),
  "cheapest oldest".split(" "),
  "warmest coldest".split(" "),
  "warmer colder".split(" "),
  "bigger smaller".split(" "),
  "greater less".split(" "),
  "more fewer".split(" "),
  "above below".split(" "),
  "over under".split(" "),
  "before after".split(" "),
  "older younger".split(" "),
  "first last".split(" "),
  "top bottom".split(" "),
  "ascending descending".split(" "),
  "upper lower".split(" "),
  "multiply divide".split(" "),
  "add subtract".split(" "),
  "plus minus".split(" "),
  "times over".split(" "),
  "increase decrease".split(" "),
  "double halve".split(" "),
  "even odd".split(" "),
  "even odd".split(" "),
  "true false".split(" "),
  "january february march april may june july august september october november december".split(" "),
  "monday tuesday wednesday thursday friday saturday sunday".split(" "),
];
/** Said when, which is left out instead of replaced. */
const WHEN = new Set("tomorrow yesterday twice thrice again only not except once".split(" "));
const NAMES = ["Oslo", "Quito", "Bergen"];
const NOUNS = ["umbrella", "zebra"];
/** Ways to say the same, of which any may stand. */
const ORDERS = new Set(
  "get show find list give fetch print calculate compute what which who how read open load create make write save store put".split(
    " ",
  ),
);

/** One word of a task that was replaced. */
interface Replacement {
  word: string;
  by: string;
  task: string;
}

/** The task with each of its content words replaced, in turn, by another of its kind. */
export function replacements(task: string): Replacement[] {
  return readTokens(task).flatMap((token, at, all) => {
    const by = isListMark(task, token) ? undefined : otherOf(token, all[at - 1]);
    if (by === undefined) return [];
    return [{ word: token.text, by, task: `${task.slice(0, token.start)}${by}${task.slice(token.end)}` }];
  });
}

/** The number of a step in a list is its place and nothing more. */
function isListMark(task: string, { kind, start, end }: Token): boolean {
  return (
    kind === "number" && /(?:^|\n)[^\S\n]*$/u.test(task.slice(0, start)) && /^[.)]\s/u.test(task.slice(end))
  );
}

function otherOf(token: Token, before: Token | undefined): string | undefined {
  const { kind, text, lower } = token;
  switch (kind) {
    case "number":
      return otherNumber(token);
    case "quote":
      return `${text[0]}${/[./]/u.test(text) ? `other${/\.\w{1,4}(?=.$)/u.exec(text)?.[0] ?? ""}` : "other words"}${text.at(-1)}`;
    case "path":
      return lower === "." || lower === ".."
        ? undefined
        : text.replace(/(?<![^/.])([^/.]+)(\.\w+)?(\/?)$/u, "other$2$3");
    case "url":
      return "https://other.example/x";
    case "email":
      return "zoe@other.example";
    case "tag":
      return `${text[0]}other`;
    case "date":
      return text === "2021-03-04" ? "2022-04-05" : "2021-03-04";
    case "word":
      return otherWord(token, before);
    default:
      return undefined;
  }
}

function otherNumber({ text, value }: Token): string {
  const other = Number(value) + 13;
  return /^[$€£]/u.test(text) ? `${text[0]}${other}` : String(other);
}

function otherWord({ text, lower }: Token, before: Token | undefined): string | undefined {
  if (lower === "'s" || lower === "is") return undefined;
  if (WHEN.has(lower)) return "";
  const kind = KINDS.find((words) => words.includes(lower));
  if (kind !== undefined) return kind.find((word) => word !== lower);
  if (
    !DEMANDING_WORDS.has(lower) &&
    (isStopWord(lower) || SMALL_TALK.has(lower) || isSmall({ kind: "word", lower } as Token))
  )
    return undefined;
  const begins = before === undefined || /^[.!?:;]$/u.test(before.lower);
  if (/^\p{Lu}/u.test(text) && !begins) return NAMES.find((name) => name !== text);
  if (ORDERS.has(lower)) return "delete";
  return NOUNS.find((noun) => noun !== lower);
}

/** A replacement that changed nothing. */
interface Unheard extends Replacement {
  /** The task as it was. */
  of: string;
}

/** Result of replacing each content word of tasks. */
interface MetamorphicReport {
  /** Tasks for which code is written. */
  written: number;
  replaced: number;
  unheard: Unheard[];
}

/** Replaces each content word of each task for which rules write code: the program must change, or the task be refused. */
export async function checkWords(
  tasks: readonly { task: string; tools: readonly ToolDefinition[] }[],
  now: () => Date,
): Promise<MetamorphicReport> {
  const generator = createRulesGenerator({ now });
  const codeOf = async (request: GenerateRequest): Promise<string | undefined> => {
    const result = await generator.generate(request);
    return result.status === "generated" ? result.code : undefined;
  };
  const report: MetamorphicReport = { written: 0, replaced: 0, unheard: [] };
  for (const { task, tools } of tasks) {
    const code = await codeOf({ task, tools });
    if (code === undefined) continue;
    report.written += 1;
    for (const replacement of replacements(task)) {
      report.replaced += 1;
      if ((await codeOf({ task: replacement.task, tools })) === code)
        report.unheard.push({ ...replacement, of: task });
    }
  }
  return report;
}
