import { CemError } from "@cem/core";
import { CommanderError } from "commander";
import type { Profile, TransportName } from "code-execution-mcp";
import type { BenchOptions } from "./bench/command-options.ts";
import type { Detail, SharedOptions } from "./command-options.ts";
import { buildProgram, VERSION } from "./command-program.ts";
import { MISUSE } from "./exit-codes.ts";
import { SERVER_COMMANDS } from "./server-commands.ts";
import type { ServerInvocation } from "./server-commands.ts";

/** What the command line asks for. */
export type Invocation =
  | { command: "run"; task: string; options: SharedOptions }
  | { command: "exec"; file: string; options: SharedOptions }
  | { command: "tools"; server?: string | undefined; options: SharedOptions }
  | { command: "search"; query: string; detail: Detail; max: number; options: SharedOptions }
  | { command: "doctor"; listValues: boolean; options: SharedOptions }
  | { command: "init"; dir: string; options: SharedOptions }
  | ServerInvocation
  | ServeInvocation
  | ({ command: "bench"; options: SharedOptions } & BenchOptions)
  | { command: "help"; text: string }
  | { command: "version"; text: string };

export interface ServeInvocation {
  command: "serve";
  transport: TransportName;
  /** Absent: as the configuration says, as for the next two. */
  profile?: Profile | undefined;
  host?: string | undefined;
  port?: number | undefined;
  /** Print what the tools cost in tokens, and serve nothing. */
  cost: boolean;
  options: SharedOptions;
}

/** @throws CemError `USAGE` with what is wrong and what was perhaps meant. */
export function parseCommandLine(argv: readonly string[], colors: boolean): Invocation {
  let invocation: Invocation | undefined;
  let printed = "";
  const program = buildProgram((found) => {
    invocation = found;
  });
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => (printed += text),
      writeErr: (text) => (printed += text),
      outputError: () => {},
      getOutHasColors: () => colors,
      getErrHasColors: () => colors,
    });
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.version") return { command: "version", text: VERSION };
    if (error.code === "commander.help" || error.code === "commander.helpDisplayed") {
      return { command: "help", text: printed.trimEnd() };
    }
    throw usageError(error, argv);
  }
  if (invocation === undefined) return { command: "help", text: program.helpInformation().trimEnd() };
  return invocation;
}

function usageError(error: CommanderError, argv: readonly string[]): CemError {
  const message = error.message.replace(/^error: /u, "").replace(/\n?\((Did you mean .+\?)\)$/u, ". $1");
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  const ended = /[.?]$/u.test(sentence) ? sentence : `${sentence}.`;
  return new CemError(MISUSE.usage, `${ended} ${hint(error, argv)}`, { details: { arguments: [...argv] } });
}

function hint(error: CommanderError, argv: readonly string[]): string {
  const named = argv.find((argument) => !argument.startsWith("-")) ?? "";
  const takesWords = named === "run" || named === "search";
  if (error.code === "commander.unknownOption" && takesWords) {
    return `Words that begin with "-" go after "--", as in: cem ${named} -- "-5 + 3"`;
  }
  if (error.code === "commander.unknownCommand" && named.includes(" ")) {
    return `To run a task: cem run "${named}"`;
  }
  const known = [
    "run",
    "exec",
    "tools",
    "search",
    "serve",
    "doctor",
    "init",
    "bench",
    ...SERVER_COMMANDS,
  ].includes(named);
  return `See: cem ${known ? `${named} ` : ""}--help`;
}
