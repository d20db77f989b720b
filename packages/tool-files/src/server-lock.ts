import { CemError } from "@cem/core";
import * as z from "zod";
import { canonicalJson, compactJson, sha256 } from "./canonical-json.ts";
import { isUsableIdentifier } from "./identifiers.ts";
import { rawToolDefinition } from "./tool-definition.ts";

/** The name of the lock file in a server's folder. */
export const LOCK_FILE = "tools.lock.json";
export const LOCK_VERSION = 1;
/** Changes when the code generated from a definition changes. */
export const GENERATOR_VERSION = "1";

export const learnedOutput = z.object({
  /** A schema that all observed results match. */
  schema: z.record(z.string(), z.unknown()),
  /** Number of observed results. */
  results: z.int().positive(),
});

const lockedTool = z.object({
  /** The name of the exported function. */
  name: z.string().refine(isUsableIdentifier, "is not a usable identifier"),
  /** The name of its file in the server's folder. */
  file: z.string().regex(/^[^/\\\0]+\.ts$/),
  /** SHA-256 digest of the canonical JSON of the definition, in hexadecimal. */
  sha256: z.string(),
  /** The function's signature on one line. */
  signature: z.string(),
  /** The definition by the server. */
  definition: rawToolDefinition,
  learned: learnedOutput.optional(),
  /** Findings of `inspectDescription`. */
  flags: z.array(z.object({ rule: z.string(), place: z.string(), excerpt: z.string() })).optional(),
});

const serverLock = z.object({
  lockVersion: z.literal(LOCK_VERSION),
  generatorVersion: z.string(),
  server: z.object({
    /** The name by which calls address the server. */
    name: z.string(),
    /** The name and version the server gives itself. */
    info: z.object({ name: z.string().optional(), version: z.string().optional() }),
  }),
  tools: z.array(lockedTool),
});

/** The result type inferred for a tool without an output schema. */
export type LearnedOutput = z.infer<typeof learnedOutput>;
/** A tool as it was when its file was generated. */
export type LockedTool = z.infer<typeof lockedTool>;
/** The definitions that the files of a server were generated from. */
export type ServerLock = z.infer<typeof serverLock>;

/** Prints a lock with one line for each tool, so that a diff shows which tools changed. */
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
 * Parses the text of a lock file.
 *
 * @param file - the path of the file, for the error.
 * @throws CemError `TOOL_LOCK_INVALID` when the text is not a lock, or a definition does not match its digest.
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
      `the definition of ${JSON.stringify(altered.definition.name)} does not match its digest`,
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

/** `TOOL_LOCK_INVALID`: the lock file can't be used, for the reason given as a clause. */
export function invalidLock(file: string, reason: string): CemError {
  return new CemError(
    "TOOL_LOCK_INVALID",
    `${file} is not a valid lock file of generated tools: ${reason}.`,
    {
      details: { file, reason },
    },
  );
}
