import { CemError } from "@cem/core";
import * as z from "zod";
import { canonicalJson, compactJson, sha256 } from "./canonical-json.ts";
import { isUsableIdentifier } from "./identifiers.ts";
import { rawToolDefinition } from "./tool-definition.ts";

export const LOCK_FILE = "tools.lock.json";
export const LOCK_VERSION = 1;
/** Changes when the same definition is written as different code. */
export const GENERATOR_VERSION = "1";

export const learnedOutput = z.object({
  /** The schema that all observed results fit. */
  schema: z.record(z.string(), z.unknown()),
  /** How many results it was learned from. */
  results: z.int().positive(),
});

const lockedTool = z.object({
  /** The exported function. */
  name: z.string().refine(isUsableIdentifier, "is not a usable identifier"),
  /** The tool's file in the server's folder. */
  file: z.string().regex(/^[^/\\\0]+\.ts$/),
  /** SHA-256 over the canonical JSON of the definition. */
  sha256: z.string(),
  /** The call in one line of TypeScript. */
  signature: z.string(),
  /** As the server gave it. */
  definition: rawToolDefinition,
  learned: learnedOutput.optional(),
  /** What in the definition seems meant as an order to a model. */
  flags: z.array(z.object({ rule: z.string(), place: z.string(), excerpt: z.string() })).optional(),
});

const serverLock = z.object({
  lockVersion: z.literal(LOCK_VERSION),
  generatorVersion: z.string(),
  server: z.object({
    /** The server's name in the configuration, sent with each call. */
    name: z.string(),
    /** What the server says of itself. */
    info: z.object({ name: z.string().optional(), version: z.string().optional() }),
  }),
  tools: z.array(lockedTool),
});

/** What the results of a tool without an output schema were seen to be. */
export type LearnedOutput = z.infer<typeof learnedOutput>;
/** One tool as it was when its file was written. */
export type LockedTool = z.infer<typeof lockedTool>;
/** The definitions a server's files were written from. */
export type ServerLock = z.infer<typeof serverLock>;

/** One line for each tool, so that version control shows which one changed. */
export function printLock(lock: ServerLock): string {
  const { tools, ...head } = lock;
  const fields = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${String(compactJson(value))},\n`,
  );
  const lines = tools.map((tool) => `    ${String(compactJson(tool))}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  return `{\n${fields.join("")}  "tools": ${list}\n}\n`;
}

/**
 * @param file for the message.
 * @throws CemError `TOOL_LOCK_INVALID` when the text is not a lock, or a definition does not have its hash.
 */
export function parseLock(text: string, file: string): ServerLock {
  const result = serverLock.safeParse(readJson(text, file));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw invalidLock(file, `at ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const altered = result.data.tools.find((tool) => sha256(canonicalJson(tool.definition)) !== tool.sha256);
  if (altered !== undefined) {
    throw invalidLock(
      file,
      `the definition of ${JSON.stringify(altered.definition.name)} does not have the hash beside it`,
    );
  }
  return result.data;
}

function readJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidLock(file, error instanceof Error ? error.message : String(error));
  }
}

export function invalidLock(file: string, reason: string): CemError {
  return new CemError(
    "TOOL_LOCK_INVALID",
    `${file} is not a usable lock of generated tools: ${reason}. Delete it and run "cem generate".`,
    { details: { file, reason } },
  );
}
