import type { ToolAnnotations, ToolDefinition } from "@cem/core";
import path from "node:path";
import * as z from "zod";
import { markFlagged } from "./flagged-text.ts";
import { visibleText } from "./safe-text.ts";
import { isRecord } from "./schema-reader.ts";
import { readRegularFile } from "./server-folder.ts";
import { LOCK_FILE, invalidLock, type LockedTool, parseLock, type ServerLock } from "./server-lock.ts";

/** A server's lock, and its tools as a catalog lists them. */
export interface ReadLock {
  lock: ServerLock;
  tools: ToolDefinition[];
}

/**
 * Reads the lock of a server's generated files. The generated code itself is not read.
 *
 * @param serverDir - the server's folder.
 * @returns `undefined` when there is no lock.
 * @throws CemError `TOOL_LOCK_INVALID`.
 */
export async function readLock(serverDir: string): Promise<ReadLock | undefined> {
  const file = path.join(serverDir, LOCK_FILE);
  let text: string;
  try {
    text = await readRegularFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw invalidLock(file, "it is a link");
    throw error;
  }
  const lock = parseLock(text, file);
  return { lock, tools: lock.tools.map((tool) => toToolDefinition(tool, path.resolve(serverDir))) };
}

function toToolDefinition(tool: LockedTool, serverDir: string): ToolDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool.definition;
  const server = path.basename(serverDir);
  const output = outputSchema ?? tool.learned?.schema;
  const { flags = [] } = tool;
  return {
    server,
    name: tool.name,
    originalName: name === tool.name ? undefined : name,
    kind: "host",
    description: markFlagged(visibleText(description ?? title ?? ""), flags),
    inputSchema: isRecord(inputSchema) ? inputSchema : {},
    outputSchema: isRecord(output) ? output : undefined,
    learnedFrom: outputSchema === undefined ? tool.learned?.results : undefined,
    annotations: toAnnotations(annotations, title),
    callStyle: "object",
    signature: tool.signature,
    module: `./servers/${server}/index.ts`,
    file: path.join(serverDir, tool.file),
    flags: flags.length === 0 ? undefined : flags,
  };
}

const hint = z.boolean().optional().catch(undefined);
const annotationsShape = z
  .object({
    title: z.string().optional().catch(undefined),
    readOnlyHint: hint,
    destructiveHint: hint,
    idempotentHint: hint,
    openWorldHint: hint,
  })
  .catch({});

/** The valid annotations; `undefined` when there are none. */
function toAnnotations(raw: unknown, title: string | undefined): ToolAnnotations | undefined {
  const hints = annotationsShape.parse(raw);
  const given = Object.entries({ ...hints, title: title ?? hints.title }).filter(
    ([, value]) => value !== undefined,
  );
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
