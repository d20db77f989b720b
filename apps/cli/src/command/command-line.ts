import { CemError } from "@cem/core";
import { CommanderError, type Command } from "commander";
import { buildProgram, VERSION, type CommandDefinition, type Invocation } from "./define-command.ts";

/**
 * Parses a command line that is a plain use of one of these commands.
 *
 * @returns `undefined` for any other: help and mistakes need the full set.
 */
export function parseQuick(argv: readonly string[], definitions: readonly CommandDefinition[]) {
  if (!definitions.some(({ name }) => name === argv[0])) return undefined;
  try {
    const found = parseCommandLine(argv, definitions, false);
    return found.text === undefined ? found : undefined;
  } catch (error) {
    if (CemError.isInstance(error)) return undefined;
    throw error;
  }
}

/**
 * Parses the arguments after the command's name.
 *
 * @param colors - Whether help may be coloured.
 * @param columns - The maximum width of help. Default: 80.
 * @throws CemError `USAGE` with the problem and a suggestion.
 */
export function parseCommandLine(
  argv: readonly string[],
  definitions: readonly CommandDefinition[],
  colors: boolean,
  columns?: number,
): Invocation {
  let invocation: Invocation | undefined;
  let printed = "";
  const help = (text: string): Invocation => printing("help", text.trimEnd());
  const program = buildProgram(definitions, (found) => void (invocation = found));
  if (argv.indexOf("--") === argv.indexOf("add") + 1 && argv.includes("add")) {
    const message = 'The name of the server goes before "--": cem add <name> -- npx -y <server>';
    throw new CemError("USAGE", message, { details: { arguments: [...argv] } });
  }
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => (printed += text),
      writeErr: (text) => (printed += text),
      outputError: () => {},
      getOutHasColors: () => colors,
      ...(columns === undefined ? {} : { getOutHelpWidth: () => columns }),
      getErrHasColors: () => colors,
    });
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.version") return printing("version", VERSION);
    if (error.code === "commander.help" || error.code === "commander.helpDisplayed") return help(printed);
    throw usageError(error, argv, program);
  }
  if (invocation === undefined) return help(program.helpInformation());
  return invocation;
}

function printing(command: "help" | "version", text: string): Invocation {
  const answer = { exitCode: 0, data: { [command]: text }, report: () => [text], brief: () => text };
  return { command, text, run: () => Promise.resolve(answer) };
}

function usageError(error: CommanderError, argv: readonly string[], program: Command): CemError {
  const message = error.message
    .replace(/^error: /u, "")
    .replace(/^command-argument value ('.*') is invalid for argument '([^']*)'\./su, "There is no $2 $1.")
    .replace(/\n?\((Did you mean [^()]+\?)\)$/u, ". $1");
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  const ended = /[.?]$/u.test(sentence) ? sentence : `${sentence}.`;
  return new CemError("USAGE", `${ended} ${adviceFor(error, argv, program)}`, {
    details: { arguments: [...argv] },
  });
}

function adviceFor(error: CommanderError, argv: readonly string[], program: Command): string {
  const named = argv.find((argument) => !argument.startsWith("-")) ?? "";
  if (named === "add" && error.code === "commander.unknownOption") {
    const words = argv.filter((argument) => argument !== "--").slice(argv.indexOf("add") + 1);
    const [name = "<name>", ...command] = words;
    const isPlain = command.length > 0 && !name.startsWith("-") && !String(command[0]).startsWith("-");
    return `A command goes after "--": cem add ${isPlain ? [name, "--", ...command].join(" ") : "<name> -- npx -y <server>"}`;
  }
  const takesWords = named === "run" || named === "search";
  if (error.code === "commander.unknownOption" && takesWords)
    return `Words that begin with "-" go after "--", as in: cem ${named} -- "-5 + 3"`;
  if (error.code === "commander.unknownCommand" && named.includes(" "))
    return `To run a task: cem run "${named}"`;
  const isKnown = program.commands.some((command) => command.name() === named);
  return `See: cem ${isKnown ? `${named} ` : ""}--help`;
}
