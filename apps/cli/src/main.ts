import { CemError, toErrorInfo } from "@cem/core";
import type { Answer } from "./answer.ts";
import { parseCommandLine } from "./command-line.ts";
import type { Invocation } from "./command-line.ts";
import { loadCommand } from "./commands/index.ts";
import { exitCodeOfError } from "./exit-codes.ts";
import { GRACE_MS, watchForInterruption } from "./interruption.ts";
import type { StopReason } from "./interruption.ts";
import { safeJson, safeText } from "./safe-text.ts";
import { createTerminal } from "./terminal.ts";
import type { Output, Terminal } from "./terminal.ts";

const MAX_TIMER_MS = 2_147_483_647;

type Mode = "json" | "quiet" | "report";

/** Reads the command line, does what it says, prints the answer in the way that was asked for, and exits. */
export async function main(argv: readonly string[]): Promise<void> {
  const words = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const terminal = createTerminal(!words.includes("--no-color"));
  const askedForJson = words.includes("--json");
  let mode: Mode = askedForJson ? "json" : "report";
  let graceMs = GRACE_MS;
  const giveUp = (reason: StopReason): void => {
    process.exitCode = printStop(reason, mode, terminal);
    void flush().then(() => process.exit());
  };
  const interruption = watchForInterruption(giveUp, () => graceMs);
  let answer: Answer;
  try {
    const invocation = parseCommandLine(argv, terminal.out.style.colors.isColorSupported);
    mode = modeOf(invocation, askedForJson);
    // A server has its own bound on how long it takes to stop.
    if (invocation.command === "serve") graceMs = MAX_TIMER_MS;
    const command = await loadCommand(invocation);
    const live = mode === "report" ? terminal.out : undefined;
    answer = await command({ signal: interruption.signal, live });
  } catch (thrown) {
    answer = answerToError(thrown, words.includes("--verbose") || words.includes("-v"));
  }
  const reason = interruption.reason();
  process.exitCode = reason === undefined ? print(answer, mode, terminal) : printStop(reason, mode, terminal);
  await flush();
  const late = interruption.reason();
  if (late !== reason && late !== undefined) process.exitCode = printStop(late, mode, terminal);
  // Nothing may keep the process alive after its answer.
  process.exit();
}

function modeOf(invocation: Invocation, askedForJson: boolean): Mode {
  if (!("options" in invocation)) return askedForJson ? "json" : "report";
  if (invocation.options.json) return "json";
  return invocation.options.quiet ? "quiet" : "report";
}

function answerToError(thrown: unknown, verbose: boolean): Answer {
  const error = toErrorInfo(thrown);
  const lines = safeText(error.message).split("\n");
  // What nobody foresaw has no way out in its message.
  if (!CemError.isInstance(thrown))
    lines.push("This is a fault in cem itself. With --verbose it shows where.");
  const stack = verbose && thrown instanceof Error ? [safeText(thrown.stack ?? "")] : [];
  return {
    exitCode: exitCodeOfError(error),
    data: { status: "error", error },
    report: () => [],
    brief: () => "",
    complaint: ({ colors }) => [...lines.map((line) => colors.red(line)), ...stack],
  };
}

function print(answer: Answer, mode: Mode, { out, err }: Terminal): number {
  if (mode === "json") {
    printJson(answer.data, out);
    return answer.exitCode;
  }
  if (mode === "quiet")
    printLines(
      [answer.brief(out.isTerminal)].filter((text) => text !== ""),
      out,
    );
  else printLines(answer.report(out.style), out);
  if (answer.complaint !== undefined) printLines(answer.complaint(err.style), err);
  return answer.exitCode;
}

function printStop({ exitCode, message, cause }: StopReason, mode: Mode, { out, err }: Terminal): number {
  if (message === "") return exitCode;
  const error = { code: "INTERRUPTED", message, details: { signal: cause } };
  const canAnswer = cause.startsWith("SIG");
  if (mode === "json" && canAnswer) printJson({ status: "error", error }, out);
  // The terminal has put ^C on the line already.
  else printLines(err.isTerminal && cause === "SIGINT" ? ["", message] : [message], err);
  return exitCode;
}

function printJson(data: object, out: Output): void {
  out.write(`${safeJson(data, out.isTerminal ? 2 : undefined)}\n`);
}

function printLines(lines: readonly string[], output: Output): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}

/** Resolves when everything is written, or could not be. */
function flush(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write("", () => process.stderr.write("", () => setImmediate(resolve)));
  });
}
