import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { SharedOptions } from "./command-options.ts";
import { addSettingOptions, sharedOptions } from "./command-options.ts";
import type { ServerInvocation } from "./invocation.ts";
import * as examples from "./server-help.ts";

const TRANSPORTS = ["http", "sse"] as const;

type Add = (usage: string, description: string, example?: string) => Command;

/** Adds the commands about MCP servers to the program. */
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
    .option("-y, --yes", "add them without asking", false)
    .action((names: string[], { yes }: { yes: boolean }, command: Command) =>
      found({ command: "import", names, yes, options: shared(command) }),
    );
  addSettingOptions(add("generate", "Write the tools of MCP servers as files", examples.GENERATE))
    .argument("[servers...]", "only these")
    .option("--accept", "take over definitions that changed", false)
    .option("--learn", "let results be looked at, and write their types where a server states none", false)
    .action((servers: string[], { accept, learn }: { accept: boolean; learn: boolean }, command: Command) =>
      found({ command: "generate", servers, accept, learn, options: shared(command) }),
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
  if (/^https?:\/\//i.test(first)) {
    if (rest.length > 0) command.error(`A URL takes no arguments, and there is "${rest[0]}".`);
    if (env !== undefined) command.error("--env is for a command; a URL takes --header.");
    return definedOf({ url: first, type: transport, headers: header });
  }
  if (header !== undefined || transport !== undefined) {
    command.error("--header and --transport are for a URL; a command takes --env.");
  }
  return definedOf({ command: first, args: rest.length === 0 ? undefined : rest, env });
}

/** The entry as it is written to the file: without what was not given. */
function definedOf(entry: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
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
