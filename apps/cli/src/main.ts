import { CemError, MAX_TIMER_MS, toErrorInfo, type ErrorInfo } from "@cem/core";
import { createTerminal, type Answer, type CommandIo, type Output, type Terminal } from "./io/terminal.ts";
import { parseCommandLine, parseQuick } from "./command/command-line.ts";
import type { Invocation } from "./command/define-command.ts";
import { RUN_COMMANDS } from "./commands/run.ts";
import { EXIT_FAILED, exitCodeOfError, isOwnCode, systemErrorOf, withHint } from "./errors.ts";
import { GRACE_MS, watchForInterruption, type Interruption, type StopReason } from "./io/interruption.ts";
import { safeJson, safeText } from "./render/text.ts";

const FAULT_HINT = "This is a fault in cem itself. With --verbose it shows where.";

type Mode = "json" | "quiet" | "report";

/**
 * Parses the command line, executes the command, and prints the answer in the requested format.
 *
 * @param given - The arguments after the command's name.
 * @param io - The streams and signals to use: `process`.
 * @returns The exit code, once everything is written. Anything that an interrupted command left running ends with the process.
 */
export async function main(given: readonly string[], io: CommandIo): Promise<number> {
  // Package managers pass on the "--" of  npm exec -- cem -- tools .
  const argv = given[0] === "--" ? given.slice(1) : given;
  const words = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  const terminal = createTerminal(io, !words.includes("--no-color"));
  let mode: Mode = words.includes("--json") ? "json" : "report";
  let graceMs = GRACE_MS;
  const interruption = watchForInterruption(io, () => graceMs);
  const { signal, interrupt } = interruption;

  const execute = async (): Promise<Answer> => {
    try {
      const invocation = parseQuick(argv, RUN_COMMANDS) ?? (await parseAny(argv, terminal, io));
      mode = modeOf(invocation, mode);
      // A server has its own shutdown timeout, and a worker finishes its runs.
      if (invocation.command === "serve" || invocation.command === "worker") graceMs = MAX_TIMER_MS;
      const live = mode === "report" ? terminal.out : undefined;
      return await invocation.run({ io, signal, interrupt, live });
    } catch (thrown) {
      return answerToError(thrown, words.includes("--verbose") || words.includes("-v"));
    }
  };
  try {
    // Exactly one of the two is printed, even if a command ends just after its grace period.
    const answer = await Promise.race([execute(), interruption.graceOver.then(() => undefined)]);
    return await printAnswer(answer, interruption, mode, terminal);
  } finally {
    interruption.dispose();
  }
}

async function parseAny(argv: readonly string[], { out }: Terminal, io: CommandIo): Promise<Invocation> {
  const { COMMANDS } = await import("./commands/all.ts");
  return parseCommandLine(
    argv,
    COMMANDS,
    out.style.colors.isColorSupported,
    io.stdout.isTTY === true ? io.stdout.columns : Number(process.env["COLUMNS"]) || undefined,
  );
}

function modeOf({ options }: Invocation, asked: Mode): Mode {
  if (options === undefined) return asked;
  if (options.json) return "json";
  return options.quiet ? "quiet" : "report";
}

function answerToError(thrown: unknown, verbose: boolean): Answer {
  const error = explain(thrown);
  const message = safeText(error.message).split("\n");
  const hint = error.hint === undefined ? [] : safeText(error.hint).split("\n");
  const stack = verbose && thrown instanceof Error ? [safeText(thrown.stack ?? "")] : [];
  return {
    exitCode: exitCodeOfError(error),
    data: { status: "error", error },
    report: () => [],
    brief: () => "",
    complaint: ({ colors }) => [...message.map((line) => colors.red(line)), ...hint, ...stack],
  };
}

function explain(thrown: unknown): ErrorInfo {
  const error = systemErrorOf(thrown) ?? toErrorInfo(thrown);
  // Wrong use is reported immediately, without loading the commands' dependencies.
  if (isOwnCode(error.code)) return error;
  if (!CemError.isInstance(thrown)) return { ...error, hint: FAULT_HINT };
  return withHint(error);
}

/** Prints the answer of a command, or why it was stopped; `undefined` if it did not end in time. */
async function printAnswer(
  answer: Answer | undefined,
  interruption: Interruption,
  mode: Mode,
  terminal: Terminal,
): Promise<number> {
  const reason = interruption.reason();
  let exitCode = EXIT_FAILED;
  if (reason !== undefined) exitCode = printStop(reason, mode, terminal);
  else if (answer !== undefined) exitCode = print(answer, mode, terminal);
  await terminal.flush();
  const late = interruption.reason();
  if (late === reason || late === undefined) return exitCode;
  // The single JSON object is already written.
  return mode === "json" && late.cause.startsWith("SIG") ? late.exitCode : printStop(late, mode, terminal);
}

function print(answer: Answer, mode: Mode, { out, err }: Terminal): number {
  if (mode === "json") {
    printJson(answer.data, out);
    return answer.exitCode;
  }
  const brief = (): string[] => [answer.brief(out.isTerminal)].filter((text) => text !== "");
  printLines(mode === "quiet" ? brief() : answer.report(out.style), out);
  printLines(answer.complaint?.(err.style) ?? [], err);
  return answer.exitCode;
}

function printStop({ exitCode, message, cause }: StopReason, mode: Mode, { out, err }: Terminal): number {
  if (message === "") return exitCode;
  const error = { code: "INTERRUPTED", message, details: { signal: cause } };
  const canAnswer = cause.startsWith("SIG");
  if (mode === "json" && canAnswer) printJson({ status: "error", error }, out);
  // The terminal has already printed ^C on the line.
  else printLines(err.isTerminal && cause === "SIGINT" ? ["", message] : [message], err);
  return exitCode;
}

function printJson(data: object, out: Output): void {
  out.write(`${safeJson(data, out.isTerminal ? 2 : undefined)}\n`);
}

function printLines(lines: readonly string[], output: Output): void {
  if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
}
