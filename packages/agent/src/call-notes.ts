import { copyWholeWords, toolId, type RunOutcome, type ToolCallRecord } from "@cem/core";
import type { DescribeCall } from "./ending.ts";

/** Maximum number of calls shown: the first that failed, and the last before the error, either of which may have caused it. */
const MAX_SHOWN_CALLS = 6;
const MAX_SHOWN_FAILURES = 2;
const MAX_CHARACTERS = 300;
/** Limit for arguments that appear literally in the code, which the reader has written. */
const MAX_STATED_CHARACTERS = 60;
/** The texts and numbers in a JSON text. */
const VALUES = /"(?:[^"\\]|\\[^])*\\?(?:"|$)|-?\d[\d.e+-]*/gu;
/** The end of a JSON value. Text cut there contains complete values only. */
const PART_END = /[,[{:]/gu;
/** A tool's own report of a failure, in an answer that is not an error of the protocol. */
const FAILURE =
  /^\{(?:[^{}[\]]{0,200},)?\s*"(?:success|ok)":\s*false|^\{\s*"error":\s*(?!null|false|""|\{\})/u;

const EMPTY = '""';

/** An integer in an answer that came as text because it exceeds JavaScript's numbers, and digits that may be part of one. */
const LONG_TEXT = /"-?(\d{16,})"/gu;
const LONG_DIGITS = /\d{17,}/gu;
const MAX_SEARCHED_DIGITS = 100;
const JOINED =
  "A long whole number of an answer is text, and + joined it to other digits: count with BigInt(text).";

/** A text that was stored as a file. Handles of other large results describe the shape of the value. */
const KEPT_TEXT = /^\{"type":"text".{0,200}"path":"\/workspace\/results\//u;
const KEPT_REMARK =
  " (a large text, which comes as a handle: read it with await result.text(), or in parts with page(offset, limit))";

const UNKNOWN = "no answer came. It may have been carried out: look before you repeat it";
const UNCHANGED = "cancelled before it could change anything";
const LATE =
  "These calls ended after the program, also where a timeout of its own had given them up. Repeat none that was carried out:";

/**
 * Shows the results of calls made by code that threw or was stopped, which often contain the reason: an unexpected shape, or
 * a failure that a tool reports in its answer. For code that completed, only names the tools whose answers may have made its
 * result wrong, and shows the calls that ended after it. Of calls without an answer it says whether they may have been
 * carried out.
 *
 * @param code - The code. Arguments that appear in it are not repeated.
 * @param describeCall - Names a tool as code does.
 */
export function callNotes(outcome: RunOutcome | undefined, code: string, describeCall: DescribeCall) {
  if (outcome === undefined) return [];
  const isTold = ({ error }: ToolCallRecord): boolean =>
    error !== undefined && outcome.status === "failed" && outcome.error.message.includes(error.message);
  const reasonOf = (call: ToolCallRecord): string => {
    const { message = "" } = call.isCancelled || isTold(call) ? {} : (call.error ?? {});
    return message === "" ? "" : `: ${copyWholeWords(message.replaceAll(/\s+/gu, " "), MAX_CHARACTERS)}`;
  };
  const lineOf = (call: ToolCallRecord): string => {
    const { server, tool } = describeCall(call);
    const most = isStated(call, code) ? MAX_STATED_CHARACTERS : MAX_CHARACTERS;
    return `${toolId({ server, name: tool })}(${cut(call.args ?? "", most)}) → ${endOf(call)}${reasonOf(call)}`;
  };
  const linesOf = (calls: readonly ToolCallRecord[]): string[] => {
    const more = calls.length - MAX_SHOWN_CALLS;
    const rest = more > 0 ? [`${more} more: ${calls[0] && endOf(calls[0])}`] : [];
    return [...together(calls.slice(0, MAX_SHOWN_CALLS).map((call) => lineOf(call))), ...rest];
  };
  const answeredLines = (calls: readonly ToolCallRecord[]): string[] => {
    const answered = calls.filter(({ result, error }) => result !== undefined || error !== undefined);
    const shown = telling(answered);
    const left = answered.filter((call) => !shown.includes(call));
    const failures = left.filter(isFailed).length;
    const ended = failures === 0 ? "all answered" : `of which ${failures} failed`;
    return [...linesOf(shown), ...(left.length > 0 ? [`and ${left.length} earlier, ${ended}`] : [])];
  };
  const cancelled = outcome.toolCalls.filter(({ isCancelled }) => isCancelled === true);
  const unanswered = [
    ...linesOf(cancelled.filter(({ mayBeDone }) => mayBeDone)),
    ...linesOf(cancelled.filter(({ mayBeDone }) => !mayBeDone)),
  ];
  if (outcome.status === "completed") {
    const joined = hasJoinedDigits(outcome) ? [JOINED] : [];
    const late = answeredLines(outcome.toolCalls.filter(({ isLate, isCancelled }) => isLate && !isCancelled));
    const lateNote = late.length === 0 ? [] : [[LATE, ...late].join("\n")];
    return [...doubtfulAnswers(outcome.toolCalls, describeCall), ...joined, ...lateNote, ...unanswered];
  }
  // The error message already describes the failure of the only call.
  const [only, other] = outcome.toolCalls;
  if (only !== undefined && other === undefined && isTold(only) && isStated(only, code)) return [];
  const told = [...answeredLines(outcome.toolCalls), ...unanswered];
  return told.length === 0 ? [] : [`The calls before the error:\n${told.join("\n")}`];
}

function endOf({ isCancelled, mayBeDone, result = "", error }: ToolCallRecord): string {
  if (isCancelled) return mayBeDone ? UNKNOWN : UNCHANGED;
  return error === undefined ? `${cut(result)}${remarkOn(result)}` : "failed";
}

/** Merges equal lines with a count, since a loop may repeat the same call. */
function together(lines: readonly string[]): string[] {
  return [...new Set(lines)].map((line) => {
    const times = lines.filter((other) => other === line).length;
    return times === 1 ? line : `${line} (${times} times)`;
  });
}

function doubtfulAnswers(calls: readonly ToolCallRecord[], describeCall: DescribeCall): string[] {
  const kinds = [
    ["Answered with an empty text", ({ result }: ToolCallRecord) => result === EMPTY],
    ["Reported a failure in the answer", ({ result = "" }: ToolCallRecord) => FAILURE.test(result)],
  ] as const;
  return kinds.flatMap(([words, is]) => {
    const tools = calls.filter(is).map((call) => describeCall(call));
    const names = new Set(tools.map(({ server, tool }) => toolId({ server, name: tool })));
    return names.size === 0 ? [] : [`${words}: ${[...names].join(", ")}.`];
  });
}

/** Whether a program returned the digits of an answer joined with other digits, as `0 + "7205759403792793601"` does. */
function hasJoinedDigits({ toolCalls, output, value }: RunOutcome & { status: "completed" }): boolean {
  const answers = toolCalls.map(({ result = "" }) => result);
  const long = answers.flatMap((answer) => [...answer.matchAll(LONG_TEXT)].map(([, digits = ""]) => digits));
  const given = long.length === 0 ? [] : (`${output} ${JSON.stringify(value)}`.match(LONG_DIGITS) ?? []);
  const isJoined = (run: string): boolean => long.some((digits) => run !== digits && run.includes(digits));
  const isAnswered = (run: string): boolean => answers.some((answer) => answer.includes(run));
  return given.slice(0, MAX_SEARCHED_DIGITS).some((run) => isJoined(run) && !isAnswered(run));
}

function isStated({ args = "" }: ToolCallRecord, code: string): boolean {
  const values = args.match(VALUES) ?? [];
  return values.every((value) => code.includes(value.replace(/^"(.*)"$/su, "$1")));
}

function isFailed({ result = "", error }: ToolCallRecord): boolean {
  return error !== undefined || FAILURE.test(result);
}

/** The first calls that failed, and the last ones, in their order. */
function telling(answered: readonly ToolCallRecord[]): ToolCallRecord[] {
  const first = answered.filter(isFailed).slice(0, MAX_SHOWN_FAILURES);
  const others = answered.filter((call) => !first.includes(call));
  const shown = new Set([...first, ...others.slice(first.length - MAX_SHOWN_CALLS)]);
  return answered.filter((call) => shown.has(call));
}

function remarkOn(result: string): string {
  if (FAILURE.test(result)) return " (the tool reports a failure)";
  return KEPT_TEXT.test(result) ? KEPT_REMARK : "";
}

/** The beginning of a JSON text, without a value that is cut. */
function cut(json: string, most = MAX_CHARACTERS): string {
  if (json.length <= most) return json;
  const beginning = json.slice(0, most);
  const ends = [...beginning.matchAll(PART_END)];
  return `${beginning.slice(0, (ends.at(-1)?.index ?? 0) + 1)}…`;
}
