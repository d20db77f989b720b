import { CemError } from "@cem/core";
import { Command, CommanderError } from "commander";
import { addOutputOptions, addSettingOptions, sharedOptions } from "./command-options.ts";
import { buildProgram, VERSION } from "./command-program.ts";
import type { Invocation } from "./invocation.ts";

/**
 * Reads the arguments after the command's name.
 *
 * @param colors - Whether help may be coloured.
 * @throws CemError `USAGE` with what is wrong and what was perhaps meant.
 */
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
    const usage = usageError(error, argv, program);
    if (error.code !== "commander.unknownCommand") throw usage;
    return pluginCommand(program, usage);
  }
  if (invocation === undefined) return { command: "help", text: program.helpInformation().trimEnd() };
  return invocation;
}

/**
 * A command that a plugin may add: which plugins there are is known once the configuration is read.
 *
 * @throws CemError `USAGE` for a name that no plugin's command can have.
 */
function pluginCommand(program: Command, usage: CemError): Invocation {
  const [name = "", ...rest] = program.args;
  if (!/^[a-z][a-z\d-]*$/u.test(name)) throw usage;
  const command = addSettingOptions(addOutputOptions(new Command(name)))
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  try {
    command.parse(rest, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw usageError(error, [name, ...rest], program);
    throw error;
  }
  const options = sharedOptions(program, command);
  return { command: "plugin-command", name, words: [...command.args], usage, options };
}

function usageError(error: CommanderError, argv: readonly string[], program: Command): CemError {
  const message = error.message.replace(/^error: /u, "").replace(/\n?\((Did you mean [^()]+\?)\)$/u, ". $1");
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  const ended = /[.?]$/u.test(sentence) ? sentence : `${sentence}.`;
  return new CemError("USAGE", `${ended} ${adviceFor(error, argv, program)}`, {
    details: { arguments: [...argv] },
  });
}

function adviceFor(error: CommanderError, argv: readonly string[], program: Command): string {
  const named = argv.find((argument) => !argument.startsWith("-")) ?? "";
  const takesWords = named === "run" || named === "search";
  if (error.code === "commander.unknownOption" && takesWords) {
    return `Words that begin with "-" go after "--", as in: cem ${named} -- "-5 + 3"`;
  }
  if (error.code === "commander.unknownCommand" && named.includes(" ")) {
    return `To run a task: cem run "${named}"`;
  }
  const isKnown = program.commands.some((command) => command.name() === named);
  return `See: cem ${isKnown ? `${named} ` : ""}--help`;
}
