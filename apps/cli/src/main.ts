import { toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import type { Answer } from "./answer.ts";
import { parseCommandLine } from "./command-line.ts";
import type { Invocation } from "./command-line.ts";
import { loadCommand } from "./commands/index.ts";
import { EXIT_OK, exitCodeOfError } from "./exit-codes.ts";
import { watchForInterruption } from "./interruption.ts";
import type { StopReason } from "./interruption.ts";
import { safeData, safeJson } from "./safe-text.ts";
import { createTerminal } from "./terminal.ts";
import type { Output, Terminal } from "./terminal.ts";

type Mode = "json" | "quiet" | "report";

/** Reads the command line, does what it says, prints the answer in the way that was asked for, and exits. */
export async function main(argv: readonly string[]): Promise<void> {
  const words = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const terminal = createTerminal(!words.includes("--no-color"));
  const askedForJson = words.includes("--json");
  let mode: Mode = askedForJson ? "json" : "report";
  const interruption = watchForInterruption((reason) => exit(printStop(reason, mode, terminal)));
  let answer: Answer;
  try {
    const invocation = parseCommandLine(argv, terminal.out.style.colors.isColorSupported);
    mode = modeOf(invocation, askedForJson);
    const command = await loadCommand(invocation);
    const live = mode === "report" ? terminal.out : undefined;
    answer = await command({ signal: interruption.signal, live });
  } catch (thrown) {
    answer = answerToError(toErrorInfo(thrown));
  }
  const reason = interruption.reason();
  exit(reason === undefined ? print(answer, mode, terminal) : printStop(reason, mode, terminal));
}

function modeOf(invocation: Invocation, askedForJson: boolean): Mode {
  if (!("options" in invocation)) return askedForJson ? "json" : "report";
  if (invocation.options.json) return "json";
  return invocation.options.quiet ? "quiet" : "report";
}

function answerToError(error: ErrorInfo): Answer {
  const safe = safeData(error);
  return {
    exitCode: exitCodeOfError(error),
    data: { status: "error", error },
    report: () => [],
    brief: () => "",
    complaint: ({ colors }) => [colors.red(safe.message)],
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
  if (cause === "EPIPE") return EXIT_OK;
  const error = { code: "INTERRUPTED", message, details: { signal: cause } };
  if (mode === "json") printJson({ status: "error", error }, out);
  else printLines([message], err);
  return exitCode;
}

function printJson(data: object, out: Output): void {
  out.write(`${safeJson(data, out.isTerminal ? 2 : undefined)}\n`);
}

function printLines(lines: readonly string[], output: Output): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}

/** Ends the process once everything is written; nothing may keep it alive after its answer. */
function exit(code: number): void {
  process.exitCode = code;
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}
