import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { CemError, type ErrorDetails } from "@cem/core";
import { findPinned } from "./pinned-models.ts";

/** The size and the digest of one file of a model. */
export interface LockedFile {
  bytes: number;
  /** SHA-256 in hexadecimal. */
  sha256: string;
}

/** What was pulled: written beside the files of a model, and checked when the model is loaded. */
export interface ModelLock {
  /** The model as it was asked for: `Xenova/all-MiniLM-L6-v2`, or with `@` and a revision. */
  model: string;
  /** The commit; or the branch or tag, where the server does not tell its commit. */
  revision: string;
  /** The URL of the hub or mirror. */
  source: string;
  dtype: "q8" | "fp32";
  pooling: "mean";
  /** By path within the model's folder. */
  files: Record<string, LockedFile>;
}

export const MODEL_LOCK_FILE = "model-lock.json";
const FORMAT = 1;
const SHA256 = /^[0-9a-f]{64}$/u;

/** The text of a lock file. */
export function formatLock(lock: ModelLock): string {
  return `${JSON.stringify({ format: FORMAT, ...lock }, null, 2)}\n`;
}

/**
 * Reads the lock of a model's folder.
 *
 * @returns `undefined` where there is none.
 * @throws CemError `EMBEDDER_MODEL_CHANGED` for one that can't be read.
 */
export async function readLock(folder: string): Promise<ModelLock | undefined> {
  const file = path.join(folder, MODEL_LOCK_FILE);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return undefined;
  }
  const lock = parseLock(text);
  if (lock === undefined) throw modelChanged({ folder, file: MODEL_LOCK_FILE }, "it is no lock of a model");
  return lock;
}

/** A folder may be anybody's: everything of the lock is checked. */
function parseLock(text: string): ModelLock | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || value["format"] !== FORMAT || !isRecord(value["files"])) return undefined;
  const { model, revision, source, dtype, pooling } = value;
  if (typeof model !== "string" || typeof revision !== "string" || typeof source !== "string")
    return undefined;
  if ((dtype !== "q8" && dtype !== "fp32") || pooling !== "mean") return undefined;
  const files: Record<string, LockedFile> = {};
  for (const [file, locked] of Object.entries(value["files"])) {
    if (!isRecord(locked) || path.isAbsolute(file) || path.normalize(file).startsWith("..")) return undefined;
    const { bytes, sha256 } = locked;
    if (typeof bytes !== "number" || typeof sha256 !== "string" || !SHA256.test(sha256)) return undefined;
    files[file] = { bytes, sha256 };
  }
  return { model, revision, source, dtype, pooling, files };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks the files of a model against its lock, and the lock against the digests that are known for the model.
 *
 * @throws CemError `EMBEDDER_MODEL_CHANGED` that names the first file that is missing or another.
 */
export async function checkModelFiles(folder: string, lock: ModelLock): Promise<void> {
  const { model } = lock;
  const [name = "", revision] = model.split("@");
  const pinned = findPinned(name, revision);
  const lockFile = { folder, file: MODEL_LOCK_FILE, model };
  if (pinned !== undefined && pinned.revision !== lock.revision) {
    throw modelChanged(lockFile, `revision ${pinned.revision} is needed, not ${lock.revision}`);
  }
  for (const [file, digest] of Object.entries(pinned?.files ?? {})) {
    if (lock.files[file]?.sha256 !== digest) throw modelChanged(lockFile, `${file} is another`);
  }
  for (const [file, { sha256 }] of Object.entries(lock.files)) {
    const found = await digestOf(path.join(folder, file));
    if (found === undefined) throw modelChanged({ folder, file, model }, "it can't be read");
    if (found !== sha256)
      throw modelChanged({ folder, file, model }, `its digest is ${found}, not ${sha256}`);
  }
}

async function digestOf(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

/** A file of a model in the cache. */
interface ModelFile {
  folder: string;
  file: string;
  model?: string | undefined;
}

function modelChanged(details: ModelFile & ErrorDetails, reason: string): CemError {
  return new CemError(
    "EMBEDDER_MODEL_CHANGED",
    `${path.join(details.folder, details.file)} is not as it was pulled: ${reason}. The model is not loaded.`,
    { details },
  );
}
