import type { ToolFlag } from "@cem/core";
import { inspectDescription } from "../inspect-description.ts";
import { generateToolModule } from "../print/tool-module.ts";
import { quote } from "../safe-text.ts";
import { isSameJson } from "../canonical-json.ts";
import { readDefinition, type RawToolDefinition, type SkippedTool } from "../tool-definition.ts";
import { nameTools, type ToolName } from "../tool-names.ts";
import { markGenerated } from "./server-folder.ts";
import { GENERATOR_VERSION, LOCK_FILE, LOCK_VERSION, printLock } from "./server-lock.ts";
import type { LockedTool, ServerLock } from "./server-lock.ts";

const INDEX_FILE = "index.ts";

/** The input from which the files of a server are generated. */
export interface ServerFilesRequest {
  /** The name by which calls address the server. */
  server: string;
  /** The name and version the server gives itself. */
  serverInfo?: { name?: string | undefined; version?: string | undefined } | undefined;
  /** The entries of the server's `tools/list` result, unchanged. */
  definitions: readonly unknown[];
  /** The lock of the present files, from which names are carried over. */
  previous?: ServerLock | undefined;
  /** Names of files in the server's folder that were not generated. Tools that belong there are skipped. */
  occupied?: readonly string[] | undefined;
  /** Names of files that were generated and edited since. They stay, with their tools. */
  edited?: readonly string[] | undefined;
  /** The specifier of the module that exports `callTool`. Default: `../../client/index.ts`. */
  clientModule?: string | undefined;
}

/** An invalid part of a definition that does not prevent its use. */
export interface ToolWarning {
  tool: string;
  message: string;
}

/** The files of a server, before they are written. */
export interface ServerFilesPlan {
  /** The text of every file of the server's folder, by name. */
  files: ReadonlyMap<string, string>;
  lock: ServerLock;
  /** Tools without a file, with the reason. */
  skipped: SkippedTool[];
  /** Files that were written or edited by hand and have the name of one that would be generated. They stay as they are. */
  conflicts: string[];
  warnings: ToolWarning[];
}

/** Generates the files of a server in memory. The result does not depend on the order of the definitions. */
export function planServerFiles(request: ServerFilesRequest): ServerFilesPlan {
  const { usable, skipped } = readDefinitions(request.definitions);
  const before = new Map(request.previous?.tools.map((tool) => [tool.definition.name, tool]));
  const previousNames = new Map([...before].map(([original, tool]) => [original, tool.name]));
  const names = nameTools([...usable.keys()], previousNames);
  const occupied = new Set(request.occupied?.map((file) => file.toLowerCase()));
  const edited = new Set(request.edited?.map((file) => file.toLowerCase()));

  const files = new Map<string, string>();
  const tools: LockedTool[] = [];
  const warnings: ToolWarning[] = [];
  const conflicts: string[] = [];
  for (const [original, name] of names) {
    const read = usable.get(original);
    if (read === undefined) continue;
    if (occupied.has(name.file.toLowerCase())) {
      conflicts.push(name.file);
      skipped.push({ name: original, reason: `${name.file} was written by hand and is left as it is.` });
      continue;
    }
    const { tool, code, messages } = planTool(read, name, before.get(original), request);
    tools.push(tool);
    if (edited.has(name.file.toLowerCase())) conflicts.push(name.file);
    else files.set(name.file, markGenerated(code));
    warnings.push(...messages.map((message) => ({ tool: original, message })));
  }
  tools.sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
  const lock: ServerLock = {
    lockVersion: LOCK_VERSION,
    generatorVersion: GENERATOR_VERSION,
    server: { name: request.server, info: request.serverInfo ?? {} },
    tools,
  };
  if (occupied.has(INDEX_FILE) || edited.has(INDEX_FILE)) conflicts.push(INDEX_FILE);
  else {
    const lines = tools.map(({ name, file }) => `export { ${name} } from ${quote(`./${file}`)};\n`);
    files.set(INDEX_FILE, markGenerated(lines.join("") || "export {};\n"));
  }
  // Written last, so that the previous lock is valid until then.
  files.set(LOCK_FILE, printLock(lock));
  return { files, lock, skipped, conflicts, warnings };
}

/** Reads definitions by name. Of several with the same name the first is used. */
export function readDefinitions(definitions: readonly unknown[]) {
  const usable = new Map<string, RawToolDefinition>();
  const skipped: SkippedTool[] = [];
  for (const [index, raw] of definitions.entries()) {
    const read = readDefinition(raw, index);
    if ("reason" in read) {
      skipped.push(read);
      continue;
    }
    const { name } = read;
    if (usable.has(name))
      skipped.push({ name, reason: "The server lists this name more than once; the first tool is used." });
    else usable.set(name, read);
  }
  return { usable, skipped };
}

function planTool(
  read: RawToolDefinition,
  name: ToolName,
  before: LockedTool | undefined,
  { server, clientModule }: ServerFilesRequest,
): { tool: LockedTool; code: string; messages: string[] } {
  const same = before !== undefined && isSameJson(before.definition, read) ? before : undefined;
  // Only the order of its keys may differ.
  const definition = same?.definition ?? read;
  const flags: ToolFlag[] =
    same === undefined
      ? inspectDescription(definition).map(({ rule, place, excerpt }) => ({ rule, place, excerpt }))
      : (same.flags ?? []);
  const { code, signature, warnings } = generateToolModule(definition, {
    server,
    identifier: name.identifier,
    flags,
    clientModule,
  });
  const tool: LockedTool = {
    name: name.identifier,
    file: name.file,
    signature,
    definition,
    flags: flags.length === 0 ? undefined : flags,
  };
  return { tool, code, messages: warnings };
}
