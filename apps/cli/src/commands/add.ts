import { statSync } from "node:fs";
import path from "node:path";
import type { ErrorInfo } from "@cem/core";
import { shellWord } from "@cem/core/text";
import type { ServerSource } from "code-execution-mcp/admin";
import { askYesNo } from "../ask/prompt.ts";
import { showStarting, type CommandContext } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, counted, shortPath, type Style } from "../render/text.ts";
import { renderGenerated } from "../render/servers.ts";
import { serverSourceOf } from "../command/options.ts";
import { InvalidArgumentError, Option, type Command } from "commander";
import { answer, defineCommand } from "../command/define-command.ts";

const TRANSPORTS = ["http", "sse"] as const;

/** `cem add`: adds a server to config.yaml and writes its tools as files. A server that does not answer is still added. */
export const add = defineCommand<{ name: string; entry: Record<string, unknown> }>({
  name: "add",
  group: "start",
  about: "Add an MCP server and write its tools as files",
  help: `
The server is written to config.yaml, whose comments are kept. Then its tools are written as files.
A command gets only the variables that --env names, not the rest of your environment: --env 'KEY=\${KEY}' hands one on.
\${NAME} in a value is replaced from the environment or .env when the server is used, so secrets can stay there.

Examples:
  cem add everything -- npx -y @modelcontextprotocol/server-everything
  cem add memory --env MEMORY_FILE_PATH=m.json -- npx -y @modelcontextprotocol/server-memory
  cem add crm https://crm.example.com/mcp --header 'Authorization: Bearer \${CRM_TOKEN}'`,
  settings: ["config", "servers"],
  declare: (command) =>
    command
      .argument("<name>", "what code calls it")
      .argument("<target...>", "its URL; or after --, the command that starts it, with its arguments")
      .option(
        "--header <name: value>",
        "an HTTP header to send; may be given again",
        collect(":", "Authorization: Bearer ${TOKEN}"),
      )
      .option(
        "--env <name=value>",
        "a variable of the command; may be given again",
        collect("=", "API_KEY=${API_KEY}"),
      )
      .addOption(new Option("--transport <type>", "how to talk to a URL").choices(TRANSPORTS)),
  read: (command) => {
    const [name = "", ...target] = command.args;
    if (name.trim() === "") command.error("The server's name is empty. Code calls it by its name.");
    return { name, entry: toEntry(target, command) };
  },
  async run({ name, entry, options }, context) {
    const { addServers, generateTools } = await import("code-execution-mcp/admin");
    const { live } = context;
    const source = serverSourceOf(options, context);
    const { file, warnings } = await addServers([{ name, entry }], source);
    const added = (style: Style): string[] => [
      ...renderRow("added", `${oneLine(name)} to ${shortPath(file)}`, style),
      ...warnings.flatMap((text) => renderRow("note", oneLine(text), style, { paint: style.colors.yellow })),
    ];
    live?.write(`\n${added(live.style).join("\n")}\n`);
    const generating = generateTools({ ...source, servers: [name] });
    const [server] = await showStarting(live, [name], generating);
    const isDone = server?.state === "generated";
    if (isDone) await askAboutFolders(name, entry, source, context);
    const word = shellWord(name);
    // Code and the other commands identify the tools by their folder.
    const next = isDone
      ? { next: `cem tools ${shellWord(path.basename(server.directory))}` }
      : afterFailure(word, server?.error);
    return answer({
      data: { file, server, warnings, next: Object.values(next) },
      isDone,
      report: (shown, style) => [
        ...renderGenerated(shown.server === undefined ? [] : [shown.server], style),
        "",
        ...Object.entries(next).flatMap(([label, command]) => renderRow(label, oneLine(command), style)),
      ],
      brief: (shown) => (isDone ? `${name}: ${server.tools}` : (shown.server?.error?.message ?? "")),
    });
  },
});

export const remove = defineCommand<{ name: string }>({
  name: "remove",
  group: "tools",
  about: "Remove an MCP server and the files of its tools",
  help: `
Only files that were generated are removed. A sign-in by cem auth is your user's, for all projects, and stays.

Examples:
  cem remove everything`,
  settings: ["config", "servers"],
  declare: (command) => command.argument("<name>", "the server"),
  async run({ name, options }, context) {
    const { removeServerAndFiles } = await import("code-execution-mcp/admin");
    const { file, removed, signIn } = await removeServerAndFiles(name, serverSourceOf(options, context));
    const from = file === undefined ? [] : [`from ${shortPath(file)}`];
    const files = removed.length === 0 ? [] : [counted(removed.length, "generated file")];
    return answer({
      data: { name, file, removed, signIn },
      report: (shown, style) => [
        "",
        ...renderRow("removed", `${oneLine(shown.name)} ${[...from, ...files].join(", with ")}`, style),
        ...(signIn === undefined ? [] : renderRow("sign-in", `${SIGN_IN_STAYS} ${signIn}`, style)),
      ],
      brief: (shown) => shown.removed.join("\n"),
    });
  },
});

/** The entry for the file, without options that were not given. */
function toEntry([first = "", ...rest]: string[], command: Command): Record<string, unknown> {
  const { header, env, transport } = command.opts<Record<string, unknown>>();
  if (/^https?:\/\//i.test(first)) {
    if (rest.length > 0) command.error(`A URL takes no arguments, and there is "${rest[0]}".`);
    if (env !== undefined) command.error("--env is for a command; a URL takes --header.");
    return definedOf({ url: first, type: transport, headers: header });
  }
  if (/^[a-z][a-z\d+.-]+:\/\//iu.test(first))
    command.error(`A server's URL begins with http:// or https://, and this one is "${first}".`);
  if (header !== undefined || transport !== undefined)
    command.error("--header and --transport are for a URL; a command takes --env.");
  return definedOf({ command: first, args: rest.length === 0 ? undefined : rest, env });
}

function definedOf(entry: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

/** Parses a name and a value, and adds them to previous ones. */
function collect(separator: ":" | "=", example: string) {
  return (text: string, before: Record<string, string> = {}): Record<string, string> => {
    const at = text.indexOf(separator);
    const [name, written] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1)];
    const value = separator === ":" ? written.trim() : written;
    // An empty variable is meaningful to many commands, but an empty header hardly to any server.
    if (name === "" || (separator === ":" && value === ""))
      throw new InvalidArgumentError(`It looks like '${example}'.`);
    return { ...before, [name]: value };
  };
}

/** Asks once whether a server may write to the folders in its command without approval of each call. */
async function askAboutFolders(
  name: string,
  { args = [] }: Record<string, unknown>,
  source: ServerSource,
  context: CommandContext,
): Promise<void> {
  if (context.live === undefined || context.io.stdin.isTTY !== true) return;
  const folders = (args as string[]).filter((word) =>
    statSync(word, { throwIfNoEntry: false })?.isDirectory(),
  );
  if (folders.length === 0) return;
  const { exemptFromApproval, listCatalog } = await import("code-execution-mcp/admin");
  const { servers } = await listCatalog({ ...source, only: name });
  const tools = servers.filter((one) => one.name === name).flatMap((one) => one.tools);
  const asked = tools.filter((tool) => tool.needsApproval).map((tool) => tool.name);
  if (asked.length === 0) return;
  const question = `${asked.join(", ")} may delete or overwrite, so each call needs your yes. Make an exception for ${folders.join(", ")}, which you gave it?`;
  if (await askYesNo(oneLine(question), context)) await exemptFromApproval(name, source);
}

/** The follow-up commands if a server returned no tools, by purpose. Its error contains further advice. */
function afterFailure(word: string, error: ErrorInfo | undefined): Record<string, string> {
  const remove = { "take out": `cem remove ${word}` };
  if (error?.code === "SERVER_FOLDER_TAKEN") return remove;
  if (error?.code === "AUTH_REQUIRED" && error.details["setting"] === undefined)
    return { next: `cem auth ${word}`, ...remove };
  return { "try again": `cem generate ${word}`, ...remove };
}

const SIGN_IN_STAYS = "It stays, since it is your user's, for all projects. To sign out, delete";
