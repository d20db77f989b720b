import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { CemError, isObject, type ErrorDetails } from "@cem/core";

/** A model whose files are known. */
interface PinnedModel {
  /** The full commit of the model's repository. */
  revision: string;
  /** SHA-256 of each file, in hexadecimal, by its path in the repository. */
  files: Readonly<Record<string, string>>;
}

/** The model that is pulled when none is named: small, quick on a processor, made for English sentences. */
export const DEFAULT_MODEL = "Xenova/all-MiniLM-L6-v2";

const PINNED_MODELS: Readonly<Record<string, PinnedModel>> = {
  [DEFAULT_MODEL]: {
    revision: "751bff37182d3f1213fa05d7196b954e230abad9",
    files: {
      "config.json": "7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7",
      "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
      "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
      "onnx/model_quantized.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    },
  },
};

/** The pinned revision and digests of a model, when it has some and no other revision is asked for. */
export function findPinned(name: string, revision: string | undefined): PinnedModel | undefined {
  const pinned = Object.hasOwn(PINNED_MODELS, name) ? PINNED_MODELS[name] : undefined;
  return revision === undefined || revision === pinned?.revision ? pinned : undefined;
}

/** The name of a model on a hub, with a revision where one is asked for. */
interface ModelName {
  /** `Xenova/all-MiniLM-L6-v2` */
  name: string;
  /** A commit, a branch or a tag. */
  revision?: string | undefined;
}

const PART = String.raw`[\w][\w.-]{0,95}`;
const SYNTAX = new RegExp(String.raw`^(${PART}(?:/${PART})?)(?:@([\w][\w./-]{0,127}))?$`, "u");

/**
 * Parses `owner/name` or `owner/name@revision`.
 *
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND` for what can't be the name of a model.
 */
export function parseModelName(text: string): ModelName {
  const [, name, revision] = SYNTAX.exec(text) ?? [];
  // Both stand in paths of the cache: `--` is for the slash of the name.
  if (name === undefined || /\.\.|--/u.test(text)) {
    throw new CemError(
      "EMBEDDER_MODEL_NOT_FOUND",
      `${JSON.stringify(text)} is not the name of a model. Names look like Xenova/all-MiniLM-L6-v2, with @ and a revision where one is wanted.`,
      { details: { model: text } },
    );
  }
  return { name, revision };
}

/** The folder of a model in the cache: `Xenova--all-MiniLM-L6-v2`. */
export function folderNameOf(model: string): string {
  const { name, revision } = parseModelName(model);
  const folder = revision === undefined ? name : `${name}@${revision}`;
  return folder.replaceAll("/", "--");
}

/** A model in the cache. */
export interface PulledModel {
  /** Folder of the model's files. */
  folder: string;
  lock: ModelLock;
}

/**
 * Finds a model that was pulled. Its files are checked when it is loaded.
 *
 * @param model - As it was pulled: `owner/name`, or `owner/name@revision`.
 * @returns `undefined` when it was not pulled.
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND` for what is no name of a model, `EMBEDDER_MODEL_CHANGED` for a lock that can't
 * be read.
 */
export async function findModel(modelsDir: string, model: string): Promise<PulledModel | undefined> {
  const folder = path.join(modelsDir, folderNameOf(model));
  const lock = await readLock(folder);
  return lock === undefined ? undefined : { folder, lock };
}

/** The size and the digest of one file of a model. */
export interface LockedFile {
  bytes: number;
  /** SHA-256 in hexadecimal. */
  sha256: string;
}

/** Record of a pull, written beside the files of a model and checked when the model is loaded. */
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
async function readLock(folder: string): Promise<ModelLock | undefined> {
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
  if (!isObject(value) || value["format"] !== FORMAT || !isObject(value["files"])) return undefined;
  const { model, revision, source, dtype, pooling } = value;
  if (typeof model !== "string" || typeof revision !== "string" || typeof source !== "string")
    return undefined;
  if ((dtype !== "q8" && dtype !== "fp32") || pooling !== "mean") return undefined;
  const files: Record<string, LockedFile> = {};
  for (const [file, locked] of Object.entries(value["files"])) {
    if (!isObject(locked) || path.isAbsolute(file) || path.normalize(file).startsWith("..")) return undefined;
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
