import path from "node:path";
import { readdir } from "node:fs/promises";
import { PRIVATE_FILE } from "@cem/core/files";
import { shellWord } from "@cem/core/text";
import type { LaidFiles } from "code-execution-mcp/admin";
import { serverSourceOf, type SharedOptions } from "../command/options.ts";
import type { CommandContext } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { answer, defineCommand } from "../command/define-command.ts";

/**
 * `cem init`: creates the folders, a short configuration and a first tool. Existing files are not changed. In a terminal,
 * it offers to import the MCP servers of other programs.
 */
export const init = defineCommand<{ dir: string }>({
  name: "init",
  group: "start",
  about: "Make servers/, skills/, workspace/ and config.yaml",
  help: `
Files and folders that exist are not changed.

Examples:
  cem init
  cem init my-project`,
  declare: (command) => command.argument("[dir]", "where", "."),
  read: (command, given) => {
    if (given.dir.trim() === "")
      command.error("The folder's name is empty. For the folder you are in: cem init");
    return given;
  },
  async run({ dir, options }, context) {
    const { renderStarterConfig } = await import("@cem/config");
    const { layFiles, layProjectFiles, makeFolder } = await import("code-execution-mcp/admin");
    const root = path.resolve(dir);
    makeFolder(root);
    const laid: LaidFiles = { made: [], kept: [] };
    for (const folder of FOLDERS)
      (makeFolder(path.join(root, folder)) ? laid.made : laid.kept).push(`${folder}/`);
    // It may later contain secrets.
    const files = [await layFiles(root, { [CONFIG_FILE]: renderStarterConfig() }, PRIVATE_FILE)];
    files.push(await layProjectFiles(root));
    // If there are no servers yet, or only the sample.
    const servers = await readdir(path.join(root, "servers"));
    const isFirst = servers.length === 0 || servers.includes(FIRST_SERVER);
    if (isFirst) files.push(await layFiles(root, FIRST_TOOL_FILES));
    const made = [...laid.made, ...files.flatMap((one) => one.made)];
    const kept = [...laid.kept, ...files.flatMap((one) => one.kept)];
    const place = dir === "." ? [] : [`cd ${shellWord(dir)}`];
    const imported = await offerServers(root, options, context);
    const next = [...place, isFirst ? `cem run "${FIRST_TASK}"` : "cem tools"];
    return answer({
      data: { dir: root, made, kept, next, imported: imported?.data },
      report: (shown, style) => [
        "",
        ...(made.length > 0 ? renderRow("made", made.join("  "), style) : []),
        ...(kept.length > 0 ? renderRow("kept", `${kept.join("  ")}  (there already)`, style) : []),
        ...(imported?.report(style) ?? []),
        "",
        ...shown.next.flatMap((command, at) => renderRow(at === 0 ? "next" : "", command, style)),
      ],
      brief: () => made.join("\n"),
    });
  },
});

const CONFIG_FILE = "config.yaml";
const FOLDERS = ["servers", "skills", "workspace"] as const;

/** Offers to import the MCP servers of other programs, if there are any and the terminal is interactive. */
async function offerServers(root: string, options: SharedOptions, context: CommandContext) {
  if (context.live === undefined || context.io.stdin.isTTY !== true) return undefined;
  const { findImportable } = await import("code-execution-mcp/admin");
  const config = path.join(root, CONFIG_FILE);
  const { servers } = await findImportable(serverSourceOf({ ...options, config }, context));
  if (servers.every(({ obstacle }) => obstacle !== undefined)) return undefined;
  const { importServers } = await import("./import.ts");
  return importServers({ names: [], yes: false, options: { ...options, config } }, context);
}

const FIRST_SERVER = "greeter";
/** The task that `cem init` suggests to run first. */
export const FIRST_TASK = "Greet the person named Ada";

const GREET = `/**
 * Greets a person by name.
 *
 * @param input.name - Who to greet, for example "Ada".
 * @returns The greeting.
 */
export async function greet(input: { name: string }): Promise<string> {
  return \`Hello, \${input.name}!\`;
}
`;

const INDEX = `/** Greets people: a first server to copy from. */
export { greet } from "./greet.ts";
`;

const FIRST_TOOL_FILES: Readonly<Record<string, string>> = {
  [`servers/${FIRST_SERVER}/greet.ts`]: GREET,
  [`servers/${FIRST_SERVER}/index.ts`]: INDEX,
};
