import path from "node:path";
import { CemError, isObject, readAnnotations, type ToolDefinition } from "@cem/core";
import * as z from "zod/mini";
import { markFlagged, visibleText } from "../safe-text.ts";
import { rawToolDefinition } from "../tool-definition.ts";
import { isUsableIdentifier } from "../tool-names.ts";
import { readRegularFile } from "./server-folder.ts";

export const LOCK_FILE = "tools.lock.json";
export const LOCK_VERSION = 1;
/** Changes when the code generated from a definition changes. */
export const GENERATOR_VERSION = "1";

const lockedTool = z.object({
  /** The name of the exported function. */
  name: z.string().check(z.refine(isUsableIdentifier, "is not a usable identifier")),
  /** The name of its file in the server's folder. */
  file: z.string().check(z.regex(/^[^/\\\0]+\.ts$/, "is not the name of a file in TypeScript")),
  /** The function's signature on one line. */
  signature: z.string(),
  /** The definition by the server. */
  definition: rawToolDefinition,
  /** Findings of `inspectDescription`. */
  flags: z.optional(z.array(z.object({ rule: z.string(), place: z.string(), excerpt: z.string() }))),
});

const serverLock = z.object({
  lockVersion: z.literal(LOCK_VERSION, `is not ${LOCK_VERSION}: another version of cem wrote it`),
  generatorVersion: z.string(),
  server: z.object({
    /** The name by which calls address the server. */
    name: z.string(),
    /** The name and version the server gives itself. */
    info: z.object({ name: z.optional(z.string()), version: z.optional(z.string()) }),
  }),
  tools: z.array(lockedTool),
});

/** A tool as it was when its file was generated. */
export type LockedTool = z.infer<typeof lockedTool>;
/** The definitions that the files of a server were generated from. */
export type ServerLock = z.infer<typeof serverLock>;

/** Prints a lock with one line for each tool, so that a diff shows which tools changed. */
export function printLock(lock: ServerLock): string {
  const { tools, ...head } = lock;
  const fields = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  const lines = tools.map((tool) => `    ${JSON.stringify(tool)}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  return `{\n${fields.join("")}  "tools": ${list}\n}\n`;
}

/** @throws CemError `TOOL_LOCK_INVALID` when the text is not a lock. */
export function parseLock(text: string, file: string): ServerLock {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw invalidLock(file, (error as Error).message);
  }
  const result = serverLock.safeParse(json);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw invalidLock(file, `at ${issue?.path.join(".") || "its top"}: ${issue?.message}`);
  }
  return result.data;
}

/** Creates a `TOOL_LOCK_INVALID` error. The reason is a clause. */
export function invalidLock(lock: string, reason: string): CemError {
  // The path as code sees it: the message may reach a model, which must not learn where the folder is.
  const file = `servers/${path.basename(path.dirname(lock))}/${LOCK_FILE}`;
  const message = `${file} is not a valid lock file of generated tools (${reason}). Restore it from version control.`;
  return new CemError("TOOL_LOCK_INVALID", message, { details: { file, reason } });
}

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
  const folder = path.resolve(serverDir);
  const named = lock.server.name;
  const originalServer = named === path.basename(folder) ? undefined : named;
  return { lock, tools: lock.tools.map((tool) => ({ ...toToolDefinition(tool, folder), originalServer })) };
}

function toToolDefinition(tool: LockedTool, serverDir: string): ToolDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool.definition;
  const server = path.basename(serverDir);
  const { flags = [] } = tool;
  const about = isObject(annotations) ? annotations : {};
  return {
    server,
    name: tool.name,
    originalName: name === tool.name ? undefined : name,
    kind: "host",
    description: markFlagged(visibleText(description ?? title ?? ""), flags),
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    outputSchema: isObject(outputSchema) ? outputSchema : undefined,
    annotations: readAnnotations(title === undefined ? about : { ...about, title }),
    callStyle: "object",
    signature: tool.signature,
    module: `./servers/${server}/index.ts`,
    file: path.join(serverDir, tool.file),
    flags: flags.length === 0 ? undefined : flags,
  };
}
