import type { ToolFlag } from "@cem/core";
import { markGenerated } from "./generated-mark.ts";
import { inspectDescription } from "./inspect-description.ts";
import { quote } from "./safe-text.ts";
import {
  GENERATOR_VERSION,
  type LearnedOutput,
  LOCK_FILE,
  LOCK_VERSION,
  type LockedTool,
  printLock,
  type ServerLock,
} from "./server-lock.ts";
import {
  type RawToolDefinition,
  readDefinition,
  type ReadDefinition,
  type SkippedTool,
} from "./tool-definition.ts";
import { generateToolModule } from "./tool-module.ts";
import { nameTools, type ToolName } from "./tool-names.ts";

const INDEX_FILE = "index.ts";

/** What a server's files are written from. */
export interface ServerFilesRequest {
  /** The server's name in the configuration; it is sent with each call. */
  server: string;
  /** What the server says of itself. */
  serverInfo?: { name?: string | undefined; version?: string | undefined } | undefined;
  /** The entries of its `tools/list`, as they came. */
  definitions: readonly unknown[];
  /** What results were seen to be, by the tool's original name. Only used where a definition has no output schema. */
  learned?: ReadonlyMap<string, LearnedOutput> | undefined;
  /** The lock of the files that are there now: names and what was learned are carried over. */
  previous?: ServerLock | undefined;
  /** Files in the server's folder that people wrote. Their tools are skipped. */
  occupied?: readonly string[] | undefined;
  /** The module that exports `callTool`, as seen from a tool's file. */
  clientModule?: string | undefined;
}

/** Something in a definition that is wrong but does no harm. */
export interface ToolWarning {
  tool: string;
  message: string;
}

export interface ServerFilesPlan {
  /** The text of every file of the server's folder, by name. */
  files: ReadonlyMap<string, string>;
  lock: ServerLock;
  /** Tools that get no file, and why. */
  skipped: SkippedTool[];
  /** Occupied files where a generated one belongs. */
  conflicts: string[];
  warnings: ToolWarning[];
}

/** Works out the files of one server. The same request gives the same bytes, in whatever order the tools come. */
export function planServerFiles(request: ServerFilesRequest): ServerFilesPlan {
  const { usable, skipped } = readDefinitions(request.definitions);
  const before = new Map(request.previous?.tools.map((tool) => [tool.definition.name, tool]));
  const previousNames = new Map([...before].map(([original, tool]) => [original, tool.name]));
  const names = nameTools([...usable.keys()], previousNames);
  const occupied = new Set(request.occupied?.map((file) => file.toLowerCase()));

  const files = new Map<string, string>();
  const tools: LockedTool[] = [];
  const warnings: ToolWarning[] = [];
  const conflicts: string[] = [];
  for (const [original, name] of names) {
    const read = usable.get(original);
    if (read === undefined) continue;
    if (occupied.has(name.file.toLowerCase())) {
      conflicts.push(name.file);
      skipped.push({
        name: original,
        reason: `${name.file} was written or edited by hand and is left as it is.`,
      });
      continue;
    }
    const { tool, code, messages } = planTool(read, name, before.get(original), request);
    tools.push(tool);
    files.set(name.file, markGenerated(code));
    warnings.push(...messages.map((message) => ({ tool: original, message })));
  }
  tools.sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
  const lock: ServerLock = {
    lockVersion: LOCK_VERSION,
    generatorVersion: GENERATOR_VERSION,
    server: { name: request.server, info: request.serverInfo ?? {} },
    tools,
  };
  if (occupied.has(INDEX_FILE)) conflicts.push(INDEX_FILE);
  else files.set(INDEX_FILE, printIndex(tools));
  // The last to be written: until then the earlier lock holds.
  files.set(LOCK_FILE, printLock(lock));
  return { files, lock, skipped, conflicts, warnings };
}

/** The usable definitions by name. Of two with one name the first is taken: a call could not tell them apart. */
export function readDefinitions(definitions: readonly unknown[]): {
  usable: Map<string, ReadDefinition>;
  skipped: SkippedTool[];
} {
  const usable = new Map<string, ReadDefinition>();
  const skipped: SkippedTool[] = [];
  for (const [index, raw] of definitions.entries()) {
    const read = readDefinition(raw, index);
    if ("reason" in read) {
      skipped.push(read);
      continue;
    }
    const { name } = read.definition;
    if (usable.has(name))
      skipped.push({ name, reason: "The server lists this name twice; the first one is used." });
    else usable.set(name, read);
  }
  return { usable, skipped };
}

function planTool(
  read: ReadDefinition,
  name: ToolName,
  before: LockedTool | undefined,
  { server, clientModule, learned }: ServerFilesRequest,
): { tool: LockedTool; code: string; messages: string[] } {
  const isUnchanged = before?.sha256 === read.sha256;
  // The same definition with its keys in another order is no change.
  const definition = isUnchanged ? before.definition : read.definition;
  const seen = learned?.get(name.original) ?? (isUnchanged ? before.learned : undefined);
  const known = definition.outputSchema === undefined ? seen : undefined;
  const flags = isUnchanged ? (before.flags ?? []) : flagsOf(definition);
  const { code, signature, warnings } = generateToolModule(definition, {
    server,
    identifier: name.identifier,
    learned: known,
    flags,
    ...(clientModule === undefined ? {} : { clientModule }),
  });
  const tool: LockedTool = {
    name: name.identifier,
    file: name.file,
    sha256: read.sha256,
    signature,
    definition,
    ...(known === undefined ? {} : { learned: known }),
    ...(flags.length === 0 ? {} : { flags }),
  };
  return { tool, code, messages: warnings };
}

function flagsOf(definition: RawToolDefinition): ToolFlag[] {
  return inspectDescription(definition).map(({ rule, place, excerpt }) => ({ rule, place, excerpt }));
}

function printIndex(tools: readonly LockedTool[]): string {
  const lines = tools.map(({ name, file }) => `export { ${name} } from ${quote(`./${file}`)};\n`);
  return markGenerated(lines.length === 0 ? "export {};\n" : lines.join(""));
}
