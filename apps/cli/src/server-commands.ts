import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { SharedOptions } from "./command-options.ts";
import { addSettingOptions, sharedOptions } from "./command-options.ts";
import * as examples from "./server-help.ts";

/** What the command line asks for about MCP servers. */
export type ServerInvocation =
  | {
      command: "generate";
      servers: string[];
      accept: boolean;
      learn: boolean;
      options: SharedOptions;
    }
  | { command: "add"; name: string; entry: Record<string, unknown>; options: SharedOptions }
  | { command: "remove"; name: string; options: SharedOptions }
  | { command: "import"; names: string[]; yes: boolean; options: SharedOptions }
  | { command: "servers"; options: SharedOptions }
  | { command: "auth"; server: string; browser: boolean; options: SharedOptions };

export const SERVER_COMMANDS = ["generate", "add", "remove", "import", "servers", "auth"] as const;

const TRANSPORTS = ["http", "sse"] as const;

type Add = (usage: string, description: string, example?: string) => Command;

/** The commands about MCP servers. */
export function addServerCommands(
  program: Command,
  add: Add,
  found: (invocation: ServerInvocation) => void,
): void {
  const shared = (command: Command): SharedOptions => sharedOptions(program, command);

  addSettingOptions(add("servers", "Show how each MCP server stands", examples.SERVERS)).action(
    (_: unknown, command: Command) => found({ command: "servers", options: shared(command) }),
  );
  addSettingOptions(add("add", "Add an MCP server and write its tools as files", examples.ADD))
    .argument("<name>", "what code calls it")
    .argument("<target...>", "its URL; or after --, the command that starts it, with its arguments")
    .option("--header <name: value>", "an HTTP header to send; may be given again", collectHeader)
    .option("--env <name=value>", "a variable of the command; may be given again", collectVariable)
    .addOption(new Option("--transport <type>", "how to talk to a URL").choices(TRANSPORTS))
    .action((name: string, target: string[], own: AddOptions, command: Command) =>
      found({ command: "add", name, entry: toEntry(target, own, command), options: shared(command) }),
    );
  addSettingOptions(add("remove", "Remove an MCP server and the files of its tools", examples.REMOVE))
    .argument("<name>", "the server")
    .action((name: string, _: unknown, command: Command) =>
      found({ command: "remove", name, options: shared(command) }),
    );
  addSettingOptions(add("import", "Add MCP servers that other programs are set up with", examples.IMPORT))
    .argument("[names...]", "only these")
    .option("-y, --yes", "add them without asking")
    .action((names: string[], own: { yes?: boolean | undefined }, command: Command) =>
      found({ command: "import", names, yes: own.yes ?? false, options: shared(command) }),
    );
  addSettingOptions(add("generate", "Write the tools of MCP servers as files", examples.GENERATE))
    .argument("[servers...]", "only these")
    .option("--accept", "take over definitions that changed")
    .option("--learn", "let results be looked at, and write their types where a server states none")
    .action(
      (
        servers: string[],
        own: { accept?: boolean | undefined; learn?: boolean | undefined },
        command: Command,
      ) =>
        found({
          command: "generate",
          servers,
          accept: own.accept ?? false,
          learn: own.learn ?? false,
          options: shared(command),
        }),
    );
  addSettingOptions(add("auth", "Sign in to an MCP server through the browser", examples.AUTH))
    .argument("<server>", "the server")
    .option("--no-browser", "only print the address to open")
    .action((server: string, own: { browser: boolean }, command: Command) =>
      found({ command: "auth", server, browser: own.browser, options: shared(command) }),
    );
}

interface AddOptions {
  header?: Record<string, string> | undefined;
  env?: Record<string, string> | undefined;
  transport?: (typeof TRANSPORTS)[number] | undefined;
}

function toEntry(
  [first = "", ...rest]: string[],
  { header, env, transport }: AddOptions,
  command: Command,
): Record<string, unknown> {
  if (rest.length === 0 && /^https?:\/\//i.test(first)) {
    if (env !== undefined) command.error("--env is for a command; a URL takes --header.");
    return {
      url: first,
      ...(transport === undefined ? {} : { type: transport }),
      ...(header === undefined ? {} : { headers: header }),
    };
  }
  if (header !== undefined || transport !== undefined) {
    command.error("--header and --transport are for a URL; a command takes --env.");
  }
  return {
    command: first,
    ...(rest.length === 0 ? {} : { args: rest }),
    ...(env === undefined ? {} : { env }),
  };
}

function collectHeader(text: string, before: Record<string, string> = {}): Record<string, string> {
  return { ...before, ...pair(text, ":", "Authorization: Bearer ${TOKEN}") };
}

function collectVariable(text: string, before: Record<string, string> = {}): Record<string, string> {
  return { ...before, ...pair(text, "=", "API_KEY=${API_KEY}") };
}

function pair(text: string, separator: string, example: string): Record<string, string> {
  const at = text.indexOf(separator);
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at < 1 || name === "" || value === "") throw new InvalidArgumentError(`It looks like '${example}'.`);
  return { [name]: value };
}
