import { ISOLATION_LEVELS, type ExecuteOptions, type IsolationLevel } from "@cem/core";
import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import type { ConfigInput, ConfigSource } from "code-execution-mcp";
import type { ServerSource } from "code-execution-mcp/admin";
import { writeLog, type CommandContext } from "../io/terminal.ts";

const BUILT_IN_SANDBOXES: readonly string[] = ["auto", "deno", "microsandbox", "kubernetes"];

export const MAX_PORT = 65_535;

const GENERATION_MODES = ["auto", "code", "direct"] as const;
const TYPE_CHECK_MODES = ["before", "off"] as const;

/** Options that commands share, before and after the command's name. */
export interface SharedOptions {
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  color: boolean;
  config?: string | undefined;
  workspace?: string | undefined;
  servers?: string | undefined;
  skills?: string | undefined;
  customer?: string | undefined;
  sandbox?: string | undefined;
  minIsolation?: IsolationLevel | undefined;
  typeCheck?: (typeof TYPE_CHECK_MODES)[number] | undefined;
  mode?: ExecuteOptions["mode"];
  /** Seconds. */
  timeout?: number | undefined;
  /** Whether calls that would change something are listed instead of made. */
  dryRun?: boolean | undefined;
  /** A plan printed by a dry run: of calls that change something, only those in the plan are made. */
  plan?: string | undefined;
}

/**
 * Options for the output format.
 *
 * @param answers - The option that makes the command print an answer. Default: always. `false`: never.
 */
export function outputOptions(answers: string | false = ""): Option[] {
  const when = answers === "" || answers === false ? "" : `with ${answers}: `;
  return group("Output:", [
    new Option("--json", `${when}print exactly one JSON object, also for errors`).hideHelp(answers === false),
    new Option("-q, --quiet", `${when}print the result alone`).hideHelp(answers === false),
    new Option("-v, --verbose", "print more about each stage, and the log"),
    new Option("--no-color", "print without colours (also NO_COLOR=1)"),
  ]);
}

const SETTINGS_GROUP = "Settings (they win over the environment and config.yaml):";
const CONFIG = "read this file instead of ./config.yaml; its folder is the project";

/** Options that take precedence over the configuration, by name. */
const SETTINGS = {
  config: () => new Option("--config <file>", CONFIG),
  workspace: () => new Option("--workspace <dir>", "the folder that code sees as /workspace"),
  servers: () => new Option("--servers <dir>", "the folder of tool servers"),
  skills: () => new Option("--skills <dir>", "the folder of skills"),
  customer: () => new Option("--customer <id>", "the customer whose workspace, state and skills are used"),
  sandbox: () =>
    new Option(
      "--sandbox <type>",
      `what runs the code: ${BUILT_IN_SANDBOXES.join(", ")}, or one of a plugin`,
    ),
  minIsolation: () =>
    new Option("--min-isolation <level>", "refuse to run below this level").choices(ISOLATION_LEVELS),
  typeCheck: () =>
    new Option("--type-check <when>", "check types before code runs, or not").choices(TYPE_CHECK_MODES),
  mode: () =>
    new Option("--mode <mode>", "what a model answers with: a program, one call, or either").choices(
      GENERATION_MODES,
    ),
  timeout: () =>
    new Option("--timeout <seconds>", "stop the code after this many seconds").argParser(seconds),
};
export type SettingName = keyof typeof SETTINGS;
export const ALL_SETTINGS = Object.keys(SETTINGS) as SettingName[];

/** The settings of a command that inspects tools and skills, but runs nothing. */
export const CATALOG_SETTINGS: readonly SettingName[] = ["config", "servers", "skills", "customer"];

/** The settings of a command that runs code. Model settings only apply to tasks. */
export const CODE_SETTINGS: readonly SettingName[] = ALL_SETTINGS.filter((name) => name !== "mode");

/**
 * Options that take precedence over the configuration. All of them are accepted, since they may also precede a command's name.
 *
 * @param acting - Settings that affect the command, which its help shows. Default: all.
 */
export function settingOptions(acting: readonly SettingName[] = ALL_SETTINGS): Option[] {
  return group(
    SETTINGS_GROUP,
    ALL_SETTINGS.map((name) => SETTINGS[name]().hideHelp(!acting.includes(name))),
  );
}

/** The same for a command that lists the configuration if `--config` has no file. */
export function configOrList(): Option[] {
  const others = settingOptions(CODE_SETTINGS).filter((option) => option.attributeName() !== "config");
  return [...group(SETTINGS_GROUP, [new Option("--config [file]", CONFIG)]), ...others];
}

/** Options of the changes that a task or a program may make. */
export function changeOptions(): Option[] {
  return group("Changes:", [
    new Option("--dry-run", "list the changes that the code would make, and make none"),
    new Option(
      "--plan <file>",
      "make the calls of a plan and no others: what --dry-run --json printed",
    ).conflicts("dryRun"),
  ]);
}

function group(heading: string, options: Option[]): Option[] {
  return options.map((option) => option.helpGroup(heading));
}

/** An argument that selects an action. It is required if there is no default. */
export function actionArgument(actions: readonly string[], standard?: string): Argument {
  return standard === undefined
    ? new Argument("<action>", "what to do").choices(actions)
    : new Argument("[action]", "what to do").choices(actions).default(standard);
}

/** Merges options before the command's name with those after it, which take precedence. */
export function sharedOptions(program: Command, command: Command): SharedOptions {
  const before = program.opts<Partial<SharedOptions>>();
  const after = command.opts<Partial<SharedOptions>>();
  const { json = false, quiet = false, verbose = false, ...others } = { ...before, ...after };
  return { ...others, json, quiet, verbose, color: before.color !== false && after.color !== false };
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError("It is a number of seconds above 0, such as 30 or 0.5.");
  return value;
}

/** Returns a parser of integers within bounds. */
export function wholeNumber(smallest: number, largest: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
    if (!(value >= smallest && value <= largest))
      throw new InvalidArgumentError(`It is a whole number from ${smallest} to ${largest}.`);
    return value;
  };
}

/** The source of the configuration, from the command line. Naming a file in a folder does not trust the folder. */
export function configSourceOf(options: SharedOptions): ConfigSource {
  return {
    config: overridesOf(options),
    configFile: options.config,
    customer: options.customer,
    trustFolder: false,
  };
}

const CRITICAL = /^\S+ CRITICAL +/u;

/**
 * The same, with the abort signal and the log's output if no log file is set: stderr with --verbose. Critical entries, such
 * as damaged records, are always printed.
 */
export function serverSourceOf(options: SharedOptions, { io, signal }: CommandContext): ServerSource {
  const onLog = (line: string): void => {
    if (options.verbose) writeLog(io, line);
    else if (CRITICAL.test(line)) writeLog(io, line.replace(CRITICAL, ""));
  };
  return { ...configSourceOf(options), onLog, signal };
}

/** Settings given on the command line, in the shape of the configuration. */
function overridesOf(options: SharedOptions): ConfigInput {
  const { workspace: workspaceDir, servers: serversDir, skills: skillsDir, sandbox: sandboxType } = options;
  const { minIsolation, typeCheck, timeout } = options;
  return {
    execution: { workspaceDir, serversDir, skillsDir, sandboxType, minIsolation, typeCheck },
    guardrails: { maxExecutionTime: timeout },
  };
}
