import { Command, Help } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { CemError } from "@cem/core";
import { EXIT_FAILED, EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/terminal.ts";
import { safeData, safeText, type Style } from "../render/text.ts";
import { outputOptions, settingOptions, sharedOptions } from "./options.ts";
import type { SettingName, SharedOptions } from "./options.ts";

export const VERSION: string = packageJson.version;

/** Headings of the list of commands, in order. The first group is for newcomers. */
export const COMMAND_GROUPS = {
  start: "Start here:",
  tools: "Tools and their servers:",
  runs: "Runs, skills and workflows:",
  operation: "Servers of many clients:",
  more: "More:",
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

/** A command: its place in the help, its arguments and options, and what it does. */
export interface CommandDefinition<Own extends object = object> {
  name: string;
  /** One line in the list of commands. */
  about: string;
  /** Its place in the list of commands. */
  group: CommandGroup;
  /** The text below the options in its help: notes and examples. */
  help: string;
  /** The option with which it prints an answer. Default: it always does. `false`: it never does. */
  answers?: string | false;
  /** The settings that affect it, which its help shows. Default: none. */
  settings?: readonly SettingName[];
  /** Declares its arguments and further options. */
  declare?(command: Command): Command;
  /**
   * Converts the parsed arguments.
   *
   * @param named - Options and arguments by their declared names.
   * @defaultValue `named`
   */
  read?(command: Command, named: Own): Own;
  run(given: Given<Own>, context: CommandContext): Promise<Answer>;
}

export type Given<Own extends object = object> = Own & { options: SharedOptions };

/** A parsed command line: a command with its arguments, or a text to print. */
export type Invocation = {
  command: string;
  options?: SharedOptions | undefined;
  text?: string | undefined;
} & {
  run(context: CommandContext): Promise<Answer>;
};

/** Checks a definition's types. The result can be listed with others. */
export function defineCommand<Own extends object>(definition: CommandDefinition<Own>): CommandDefinition {
  return definition;
}

interface AnswerParts<Data> {
  data: Data;
  /** Whether the command succeeded. Default: `true`. */
  isDone?: boolean | undefined;
  report: (data: Data, style: Style) => string[];
  /** The output with `--quiet`. */
  brief: (data: Data) => string;
  /** Problems in addition to the answer. */
  complaint?: (data: Data, style: Style) => string[];
}

/** Creates the answer of a command. Terminal control characters are escaped in data that is shown to people. */
export function answer<Data extends object>(parts: AnswerParts<Data>): Answer {
  const { data, isDone = true, report, brief, complaint } = parts;
  let escaped: Data | undefined;
  const shown = (): Data => (escaped ??= safeData(data));
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", ...data },
    report: (style) => report(shown(), style),
    // Only the rendered text is escaped, since the data may be much larger.
    brief: (forTerminal) => (forTerminal ? safeText(brief(data)) : brief(data)),
    complaint: complaint && ((style) => complaint(shown(), style)),
  };
}

export const NO_ANSWER: Answer = { exitCode: EXIT_OK, data: {}, report: () => [], brief: () => "" };

/**
 * Checks for a required argument of an action.
 *
 * @param action - With the name of its command: `skills show`.
 * @throws CemError `USAGE`
 */
export function needed(argument: string | undefined, action: string, what: string): string {
  if (argument !== undefined) return argument;
  throw new CemError("USAGE", `cem ${action} needs ${what}. See: cem ${action.split(" ", 1)[0]} --help`);
}

/** @param found - Called with the parsed invocation. */
export function buildProgram(
  definitions: readonly CommandDefinition[],
  found: (invocation: Invocation) => void = () => {},
): Command {
  const program = new Command("cem")
    .description("Runs tasks by writing code against tools that are files, in a sandbox.")
    .usage("<command> [options]")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help; cem help <command> for one command")
    .enablePositionalOptions()
    .configureHelp(HELP)
    .helpCommand(false)
    .addHelpText("after", PROGRAM_HELP);
  for (const definition of definitions) {
    const command = program
      .command(definition.name)
      .description(definition.about)
      .helpGroup(COMMAND_GROUPS[definition.group])
      .configureHelp(HELP)
      .addHelpText("after", definition.help);
    addOptions(command, outputOptions(definition.answers));
    if (definition.settings !== undefined) addOptions(command, settingOptions(definition.settings));
    definition.declare?.(command);
    command.action(() => found(invocationOf(definition, program, command)));
  }
  addOptions(program.command("help [command]"), outputOptions())
    .description("Print help for a command")
    .helpGroup(COMMAND_GROUPS.more)
    .configureHelp(HELP)
    .action((name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
      if (command !== undefined) return command.help();
      // Reports the unknown name; the parser suggests a similar one.
      program.parse([name ?? ""], { from: "user" });
    });
  return addOptions(program, [...outputOptions(), ...settingOptions()]);
}

/** Adds options, which commands may share. */
export function addOptions(command: Command, options: readonly Parameters<Command["addOption"]>[0][]) {
  for (const option of options) command.addOption(option);
  return command;
}

function invocationOf(definition: CommandDefinition, program: Command, command: Command): Invocation {
  const args = command.registeredArguments.map((argument, at) => [
    argument.name(),
    command.processedArgs[at] as unknown,
  ]);
  const named = { ...command.opts(), ...Object.fromEntries(args) } as object;
  const own = definition.read?.(command, named) ?? named;
  // A command may interpret shared options in its own way.
  const read = "options" in own ? (own.options as Partial<SharedOptions>) : {};
  const given = { ...own, options: { ...sharedOptions(program, command), ...read } };
  return { command: definition.name, ...given, run: (context) => definition.run(given, context) };
}

const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`;

/** Order of help: arguments and commands first, then a command's own options, then shared ones. */
const FIRST = ["Arguments:", ...Object.values(COMMAND_GROUPS), "Options:"];
const HELP: ReturnType<Command["configureHelp"]> = { styleTitle: bold, formatHelp: ownFirst };

function ownFirst(command: Command, helper: Help): string {
  const [usage = "", about = "", ...sections] = Help.prototype.formatHelp
    .call(helper, command, helper)
    .trimEnd()
    .split("\n\n");
  const first = FIRST.flatMap((heading) => sections.filter((section) => section.startsWith(bold(heading))));
  const others = sections.filter((section) => !first.includes(section));
  return `${[usage, about, ...first, ...others].join("\n\n")}\n`;
}

const PROGRAM_HELP = `
Examples:
  cem init                                    make a project here, with a first tool
  cem run "Calculate 5 + 3"                   do a task
  cem run "Calculate 5 + 3" --json            the same, for a program to read
  cem tools                                   list the tools
  cem serve                                   start an MCP server for Claude, Cursor, VS Code, …
  cem doctor                                  check that everything works

Exit codes: 0 success, 1 the task failed, was refused or ran out of time, 2 wrong use, 130 Ctrl-C.`;
