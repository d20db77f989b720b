import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { unlink } from "node:fs/promises";
import { CemError, RESULT_EXTENSIONS, writeFailure, type ResultStore } from "@cem/core";
import { openHandle, NotAFolder, openContained, readContained, UnusableFile } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";

const RESULTS_FOLDER = "results";
const GUEST_PREFIX = `/workspace/${RESULTS_FOLDER}/`;
const DEFAULT_MAX_KEPT_BYTES = 2 * 1024 * 1024 * 1024;
/** The default size of a page. */
const DEFAULT_PAGE_BYTES = 1024 * 1024;
const MAX_NAME_CHARACTERS = 100;
const RANDOM_BYTES = 6;
const MAX_SHOWN_CHARACTERS = 200;
/** The format of the store's file names. They contain no separator, so they can't leave the folder. */
const STORED_NAME = /^[0-9a-f]{12}-[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

export interface ResultStoreSettings {
  /** Absolute host path of the folder mounted as `/workspace`. */
  workspaceDir: string;
  /**
   * Total size in bytes above which this store removes its oldest results. The newest result is always stored.
   *
   * @defaultValue 2 GiB
   */
  maxKeptBytes?: number | undefined;
}

/**
 * Creates a store that keeps results as files in the workspace's `results` folder. Guest code may change, remove or replace
 * these files, so the store does not follow links and treats contents as bytes.
 *
 * Its methods throw CemError `RESULTS_UNUSABLE` if `results` is not a folder.
 */
export function createResultStore(settings: ResultStoreSettings): ResultStore {
  const { workspaceDir, maxKeptBytes = DEFAULT_MAX_KEPT_BYTES } = settings;
  const stored: { name: string; mimeType: string; size: number }[] = [];
  let storedBytes = 0;

  return {
    specificationVersion: "v1",
    async write(bytes, mimeType, suggestedName) {
      await using folder = await openResults(workspaceDir, true);
      const name = `${randomBytes(RANDOM_BYTES).toString("hex")}-${plainName(suggestedName)}`;
      await writeWhole(folder.child(name), bytes);
      stored.push({ name, mimeType, size: bytes.length });
      storedBytes += bytes.length;
      while (storedBytes > maxKeptBytes && stored.length > 1) {
        const oldest = stored.shift() as (typeof stored)[number];
        storedBytes -= oldest.size;
        // Guest code may have removed it already.
        await unlink(folder.child(oldest.name)).catch(() => {});
      }
      return { path: GUEST_PREFIX + name, size: bytes.length };
    },
    async read(path, { offset = 0, limit = DEFAULT_PAGE_BYTES } = {}) {
      assertCount("offset", offset);
      assertCount("limit", limit);
      const name = path.startsWith(GUEST_PREFIX) ? path.slice(GUEST_PREFIX.length) : "";
      if (!STORED_NAME.test(name)) throw resultNotFound(path);
      await using folder = await openResults(workspaceDir, false, path);
      const page = await readContained(folder, name, { offset, limit }).catch((error: unknown) => {
        if (!(error instanceof UnusableFile)) throw error;
      });
      if (page === undefined) throw resultNotFound(path);
      const mimeType = stored.find((one) => one.name === name)?.mimeType ?? mediaTypeOf(name);
      return { ...page, mimeType, offset };
    },
  };
}

async function openResults(workspaceDir: string, create: boolean, path = ""): Promise<ContainedFolder> {
  try {
    const folder = await openContained(workspaceDir, [RESULTS_FOLDER], create);
    if (folder !== undefined) return folder;
  } catch (error) {
    if (!(error instanceof NotAFolder))
      throw writeFailure(error, "A result", "the file system of the workspace");
    throw new CemError(
      "RESULTS_UNUSABLE",
      `Results can't be stored: "${RESULTS_FOLDER}" in the workspace is a link or a file, not a folder.`,
      { details: { workspaceDir }, cause: error },
    );
  }
  throw resultNotFound(path);
}

/** Writes a new file, or nothing if the disk is full. */
async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await using handle = await openHandle(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    await handle.writeFile(bytes);
  } catch (error) {
    await unlink(file).catch(() => {});
    throw writeFailure(error, "A result", "the file system of the workspace");
  }
}

function assertCount(option: string, count: number): void {
  if (count >= 0 && (Number.isInteger(count) || count === Infinity)) return;
  const message = `"${option}" of read has to be a whole number from 0 on, not ${JSON.stringify(count)}.`;
  throw new CemError("OPTION_INVALID", message, { details: { where: "read", option } });
}

function resultNotFound(path: string): CemError {
  return new CemError(
    "RESULT_NOT_FOUND",
    `There is no result ${JSON.stringify(path.slice(0, MAX_SHOWN_CHARACTERS))}. Paths of results begin with ${GUEST_PREFIX}.`,
    { details: { path: path.slice(0, MAX_SHOWN_CHARACTERS) } },
  );
}

/** Converts a suggested name to a portable file name. */
function plainName(suggested: string): string {
  const plain = suggested
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+(?=\.\w+$)/, "result")
    .replace(/^[.-]+/, "");
  return plain.slice(-MAX_NAME_CHARACTERS).replace(/^[.-]+/, "") || "result";
}

/** The media type of a result that another process stored. */
function mediaTypeOf(name: string): string {
  const ending = name.split(".").at(-1);
  const found = Object.entries(RESULT_EXTENSIONS).find(([, extension]) => extension === ending);
  return found?.[0] ?? "application/octet-stream";
}
