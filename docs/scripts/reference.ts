import type { Tool } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { configJsonSchema, SETTINGS } from "@cem/config";
import { STATUSES } from "@cem/core";
import { ERRORS, hintFor } from "@cem/core/errors";
import type { ErrorEntry } from "@cem/core/errors";
import { createServer } from "code-execution-mcp";
import { parseCommandLine } from "../../apps/cli/src/command/command-line.ts";
import { COMMANDS } from "../../apps/cli/src/commands/all.ts";

const MADE = "<!-- Made from code; change the code. -->";
const HELP_COLUMNS = 100;

/** Every page of `docs/reference`, by its name. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    "commands.md": commandsPage(),
    "configuration.md": configurationPage(),
    "error-codes.md": errorCodesPage(),
    "mcp-tools.md": await mcpToolsPage(),
    "statuses.md": statusesPage(),
  };
}

function page(title: string, introduction: string, sections: readonly string[]): string {
  return `${[MADE, `# ${title}`, introduction, ...sections].join("\n\n")}\n`;
}

/** Text of code in Markdown of a site that reads HTML and `{{`. */
function escaped(text: string): string {
  return text
    .split(/(`[^`]*`)/u)
    .map((part) =>
      part.startsWith("`")
        ? part
        : part.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;").replaceAll("[[", "&#91;&#91;"),
    )
    .join("");
}

function commandsPage(): string {
  const names = COMMANDS.map(({ name }) => name);
  const helpOf = (...words: string[]): string => {
    const { text = "" } = parseCommandLine([...words, "--help"], COMMANDS, false, HELP_COLUMNS);
    return `\`\`\`text\n${text}\n\`\`\``;
  };
  return page("Commands", "What `cem help` prints. From a clone, `npm start --` stands in place of `cem`.", [
    helpOf(),
    ...names.map((name) => `## cem ${name}\n\n${helpOf(name)}`),
  ]);
}

function configurationPage(): string {
  const sections = Map.groupBy(SETTINGS, ({ path }) => path.split(".")[0] ?? "");
  const introduction = `Settings of \`config.yaml\`. Defaults, the file, \`.env\`, the environment, arguments: later wins. \`cem doctor
--config\` shows every value and where it came from. [@cem/config](../../packages/config/README.md) says how they are read.

In files of a folder that is [not trusted](../../packages/config/README.md#trust), settings that can do harm count only after a yes:
those that can open or contact an address, start a process, use files outside of the folder, send out or log code, data, keys or
personal data, loosen isolation, limits, approvals, guards or authorization, or spend money, tokens, processors or disk.`;
  return page(
    "Configuration",
    introduction,
    [...sections].map(([name, settings]) => {
      const items = settings.map((setting) => {
        const { path, description, allowed, variables } = setting;
        const standard = setting.default === undefined ? "unset" : `\`${JSON.stringify(setting.default)}\``;
        const named =
          variables.length === 0 ? "" : ` Variables: ${variables.map((one) => `\`${one}\``).join(", ")}.`;
        return `### ${path}\n\n${escaped(description)} Takes ${escaped(allowed)}. Default: ${standard}.${named}${yesFor(setting)}${entryKeys(path)}`;
      });
      return [`## ${name}`, ...items].join("\n\n");
    }),
  );
}

/** The part of a JSON Schema that lists the keys of an entry. */
interface SchemaNode {
  description?: string;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

/** A table of the keys of a setting's entries, if it is a list of such. */
function entryKeys(path: string): string {
  let node: SchemaNode | undefined = configJsonSchema();
  for (const name of path.split(".")) node = node?.properties?.[name];
  const rows = rowsOf(itemOf(node), "");
  return rows.length === 0 ? "" : `\n\n${["| key | of an entry |", "| --- | --- |", ...rows].join("\n")}`;
}

function itemOf({ items, anyOf = [] }: SchemaNode = {}): SchemaNode | undefined {
  const list = items ?? anyOf.find((option) => option.items !== undefined)?.items;
  return list?.properties === undefined
    ? list?.anyOf?.find((option) => option.properties !== undefined)
    : list;
}

function rowsOf(node: SchemaNode | undefined, prefix: string): string[] {
  return Object.entries(node?.properties ?? {}).flatMap(([name, child]) => {
    const { description } = child;
    const key = `${prefix}${name}`;
    const row =
      description === undefined ? [] : [`| \`${key}\` | ${escaped(description).replaceAll("|", "\\|")} |`];
    return [...row, ...rowsOf(child, `${key}.`), ...rowsOf(itemOf(child), `${key}[].`)];
  });
}

/** When a setting in files of a folder needs a yes. */
function yesFor({ askedAs, isStricter }: (typeof SETTINGS)[number]): string {
  if (askedAs === undefined) return "";
  const when =
    askedAs === "path" || askedAs === "mount"
      ? " where it leads out of the folder"
      : isStricter === undefined
        ? ""
        : " where it allows more";
  return ` In a folder's files it needs a yes${when}.`;
}

function errorCodesPage(): string {
  const introduction = `Every error has a code that stays, a message with the numbers, and \`details\` for programs. Below each code: what it
means, when it happens where that is not evident, and the way out. \`cem\` and the MCP server add the setting or the command that helps in your case as
\`hint\`.`;
  const entries: [string, ErrorEntry][] = Object.entries(ERRORS);
  return page(
    "Error codes",
    introduction,
    entries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([code, { meaning, cause, fix, hint: given }]) => {
        const hint = given === "fix" ? undefined : hintFor({ code, details: {} });
        const parts = [
          `## ${code}`,
          escaped(meaning),
          ...(cause === undefined ? [] : [`**Cause.** ${escaped(cause)}`]),
          `**Way out.** ${escaped(fix)}`,
        ];
        return [...parts, ...(hint === undefined ? [] : [`**Hint.** ${escaped(hint)}`])].join("\n\n");
      }),
  );
}

function statusesPage(): string {
  const introduction = `How work stands, in the same words in what \`cem\` prints, in the console and the REST API, in records and in results.
Records of earlier versions are read with these words: \`completed\` as \`success\`, \`failed\` as \`error\`, \`started\` as \`running\`.`;
  const of: Readonly<Record<keyof typeof STATUSES, string>> = {
    waiting: "runs and jobs of a queue",
    running: "runs, jobs, workflows, steps",
    asking: "runs",
    success: "runs, calls, workflows, steps, forms",
    error: "runs, calls, jobs, workflows, steps, forms",
    refused: "runs, forms",
    timeout: "runs, workflows",
    cancelled: "runs, calls, workflows",
    interrupted: "workflows",
    unreadable: "workflows",
    skipped: "steps",
  };
  const rows = Object.entries(STATUSES).map(
    ([status, meaning]) => `| \`${status}\` | ${meaning} | ${of[status as keyof typeof of]} |`,
  );
  return page("Statuses", introduction, [
    ["| status | means | of |", "| --- | --- | --- |", ...rows].join("\n"),
  ]);
}

async function mcpToolsPage(): Promise<string> {
  const tools = await toolsOf("full");
  const inCode = new Set((await toolsOf("code")).map(({ name }) => name));
  const inOriginal = new Set((await toolsOf("original")).map(({ name }) => name));
  const introduction = `What \`cem serve\` shows a client, as it comes over the wire. The profile \`full\` (the default) has all of them;
\`code\` and \`original\` have those that say so.`;
  return page(
    "MCP tools",
    introduction,
    tools.map((tool) => {
      const profiles = [
        "full",
        ...(inCode.has(tool.name) ? ["code"] : []),
        ...(inOriginal.has(tool.name) ? ["original"] : []),
      ];
      const schema = `\`\`\`json\n${JSON.stringify(tool.inputSchema, null, 2)}\n\`\`\``;
      return [
        `## ${tool.name}`,
        `Profiles: ${profiles.map((name) => `\`${name}\``).join(", ")}.`,
        `\`\`\`text\n${tool.description ?? ""}\n\`\`\``,
        schema,
      ].join("\n\n");
    }),
  );
}

async function toolsOf(profile: "full" | "code" | "original"): Promise<Tool[]> {
  const server = await createServer({
    profile,
    log: () => {},
    config: { execution: { sandboxType: "deno" } },
  });
  const client = new Client({ name: "reference", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const served = await server.factory({ era: "legacy" });
  try {
    await served.connect(far);
    await client.connect(near);
    return (await client.listTools()).tools;
  } finally {
    await client.close();
    await server.close();
  }
}
