import path from "node:path";
import { readdir, writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import { shellWord } from "@cem/core/text";
import type { LaidFiles } from "code-execution-mcp/admin";
import type { SharedOptions } from "../command/options.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { renderRow } from "../render/rows.ts";
import { serverSourceOf } from "../run/config-source.ts";
import { answer, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";

/**
 * `cem init`: makes the folders, a short configuration and a first tool. Changes nothing that is there. In a terminal it asks
 * for the MCP servers that other programs have.
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
  run: initialize,
});

const CONFIG_FILE = "config.yaml";
/** Secrets may be written into it. */
const PRIVATE_FILE = 0o600;
const FOLDERS = ["servers", "skills", "workspace"] as const;

async function initialize(
  { dir, options }: Given<{ dir: string }>,
  context: CommandContext,
): Promise<Answer> {
  const { renderStarterConfig } = await import("@cem/config");
  const { layProjectFiles } = await import("code-execution-mcp/admin");
  const root = path.resolve(dir);
  const laid: LaidFiles = { made: [], kept: [] };
  await layFolder(root, "", laid);
  for (const folder of FOLDERS) await layFolder(root, folder, laid);
  await layFile(root, CONFIG_FILE, renderStarterConfig(), laid);
  const files = await attempt(root, () => layProjectFiles(root));
  laid.made.push(...files.made);
  laid.kept.push(...files.kept);
  const isFirst = await wantsFirstTool(root);
  if (isFirst) await layFirstTool(root, laid);

  const made = laid.made.filter((name) => name !== "");
  const kept = laid.kept.filter((name) => name !== "");
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
}

/** Asks for the MCP servers of other programs, where there are any and somebody can answer. */
async function offerServers(
  root: string,
  options: SharedOptions,
  context: CommandContext,
): Promise<Answer | undefined> {
  if (context.live === undefined || context.io.stdin.isTTY !== true) return undefined;
  const { findImportable } = await import("code-execution-mcp/admin");
  const config = path.join(root, CONFIG_FILE);
  const { servers } = await findImportable(serverSourceOf({ ...options, config }, context));
  if (servers.every(({ obstacle }) => obstacle !== undefined)) return undefined;
  const { importServers } = await import("./import.ts");
  return importServers({ names: [], yes: false, options: { ...options, config } }, context);
}

async function layFolder(root: string, name: string, laid: LaidFiles): Promise<void> {
  const { makeFolder } = await import("code-execution-mcp/admin");
  const folder = path.join(root, name);
  const isNew = await attempt(folder, () => makeFolder(folder));
  (isNew ? laid.made : laid.kept).push(name === "" ? "" : `${name}/`);
}

async function layFile(root: string, name: string, content: string, laid: LaidFiles): Promise<void> {
  const file = path.join(root, name);
  try {
    await writeFile(file, content, { flag: "wx", mode: name === CONFIG_FILE ? PRIVATE_FILE : undefined });
    laid.made.push(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw notMade(file, error);
    laid.kept.push(name);
  }
}

/** Where there are no servers yet, or only the first one. */
async function wantsFirstTool(root: string): Promise<boolean> {
  const folder = path.join(root, "servers");
  const names = await attempt(folder, () => readdir(folder));
  return names.length === 0 || names.includes(FIRST_SERVER);
}

async function layFirstTool(root: string, laid: LaidFiles): Promise<void> {
  const { makeFolder } = await import("code-execution-mcp/admin");
  for (const [name, content] of Object.entries(FIRST_TOOL_FILES)) {
    const folder = path.dirname(path.join(root, name));
    await attempt(folder, () => makeFolder(folder));
    await layFile(root, name, content, laid);
  }
}

async function attempt<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw notMade(place, error);
  }
}

/** Names the file where a folder should be. Other failures of the file system are explained as everywhere. */
function notMade(place: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "EEXIST" && code !== "ENOTDIR") return cause;
  const why = "is in the way: there is a file where a folder should be. Move it, or choose another folder.";
  return new CemError("USAGE", `${place} ${why}`, { details: { path: place, reason: code }, cause });
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

/** The files of a first server, by path. */
const FIRST_TOOL_FILES: Readonly<Record<string, string>> = {
  [`servers/${FIRST_SERVER}/greet.ts`]: GREET,
  [`servers/${FIRST_SERVER}/index.ts`]: INDEX,
};
