import { CemError } from "@cem/core";
import { Command, CommanderError } from "commander";
import { addOutputOptions, addSettingOptions, sharedOptions } from "./command-options.ts";
import { buildProgram, QUICK_COMMANDS, VERSION } from "./command-program.ts";
import { fitHelp } from "./fit-help.ts";
import type { Invocation } from "./invocation.ts";

/** Below this there is no room for terms and what they are side by side. */
const MIN_TABLE_COLUMNS = 80;
/** Wide enough that nothing is broken. */
const UNBROKEN = 10_000;

/**
 * Reads the arguments after the command's name.
 *
 * @param colors - Whether help may be coloured.
 * @param columns - The width that help has to fit. Default: it is not broken.
 * @throws CemError `USAGE` with what is wrong and what was perhaps meant.
 */
export function parseCommandLine(argv: readonly string[], colors: boolean, columns?: number): Invocation {
  return parseQuick(argv) ?? parseFully(argv, colors, columns);
}

/** `undefined` for a command line that is not simply one of the quick commands: help and mistakes want the whole program. */
function parseQuick(argv: readonly string[]): Invocation | undefined {
  if (!QUICK_COMMANDS.includes(argv[0] ?? "")) return undefined;
  let invocation: Invocation | undefined;
  const program = buildProgram((found) => {
    invocation = found;
  }, true);
  const silent = { writeOut: () => {}, writeErr: () => {}, outputError: () => {} };
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(silent);
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return undefined;
  }
  return invocation;
}

function parseFully(argv: readonly string[], colors: boolean, columns: number | undefined): Invocation {
  let invocation: Invocation | undefined;
  let printed = "";
  const isNarrow = columns !== undefined && columns < MIN_TABLE_COLUMNS;
  const help = (text: string): Invocation => {
    const whole = text.trimEnd();
    return { command: "help", text: columns === undefined ? whole : fitHelp(whole, columns) };
  };
  const program = buildProgram((found) => {
    invocation = found;
  });
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
      ...(columns === undefined ? {} : { getOutHelpWidth: () => (isNarrow ? UNBROKEN : columns) }),
      getErrHasColors: () => colors,
    });
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.version") return { command: "version", text: VERSION };
    if (error.code === "commander.help" || error.code === "commander.helpDisplayed") {
      return help(printed);
    }
    const usage = usageError(error, argv, program);
    if (error.code !== "commander.unknownCommand") throw usage;
    return pluginCommand(program, usage);
  }
  if (invocation === undefined) return help(program.helpInformation());
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
  if (named === "add" && error.code === "commander.unknownOption") {
    const words = argv.filter((argument) => argument !== "--").slice(argv.indexOf("add") + 1);
    const [name = "<name>", ...command] = words;
    const isPlain = command.length > 0 && !name.startsWith("-") && !String(command[0]).startsWith("-");
    return `A command goes after "--": cem add ${isPlain ? [name, "--", ...command].join(" ") : "<name> -- npx -y <server>"}`;
  }
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
