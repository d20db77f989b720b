import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import path from "node:path";
import { CemError, isObject, type JsonObject } from "@cem/core";
import * as z from "zod";
import {
  FileLock,
  ignoreMissing,
  openHandle,
  PRIVATE_FOLDER,
  removeFolder,
  replaceFile,
} from "@cem/core/files";
import { unwritable } from "./journal.ts";

const RUN_ID = /^[a-z0-9][a-z0-9-]{0,80}$/u;
const RUN_FILE = "run.json";
const MAX_RUN_FILE_BYTES = 64 * 1024 * 1024;
const SLUG_CHARACTERS = 40;
/** Prefix of the name of a folder that is being removed. No run id contains a dot. */
const REMOVED = ".removed-";

const runRecord = z.object({
  id: z.string(),
  workflow: z.string(),
  version: z.string(),
  /** The session of its calls. */
  session: z.string(),
  /** In ISO 8601. */
  startedAt: z.string(),
  definition: z.custom<JsonObject>(isObject),
  /** The workflows that are part of it, by the names that it uses. */
  parts: z.custom<Readonly<Record<string, JsonObject>>>(isObject),
  /** With tokens in place of personal values. */
  variables: z.custom<JsonObject>(isObject),
});

/** The definition and variables of a run, which stay the same even if the original files change. */
export type RunRecord = z.output<typeof runRecord>;

export interface RunFolder {
  id: string;
  folder: string;
  file: string;
  journal: string;
}

export type RunFolders = ReturnType<typeof createRunFolders>;

/** @param owner - A folder around `root` that must exist, or no run is created. Absent: missing folders are created. */
export function createRunFolders(root: string, owner?: string) {
  async function write({ file }: RunFolder, record: RunRecord): Promise<void> {
    await replaceFile(file, JSON.stringify(record), { makeFolders: false, durable: true });
  }

  function placeOf(id: string): RunFolder {
    const folder = path.join(root, id);
    return { id, folder, file: path.join(folder, RUN_FILE), journal: path.join(folder, "journal.jsonl") };
  }

  return {
    /** Creates the folder of a new run and writes its record. @throws CemError `WORKFLOW_RUN_UNWRITABLE` */
    async create(record: RunRecord): Promise<RunFolder> {
      const place = placeOf(record.id);
      try {
        if (owner === undefined) await mkdir(path.dirname(root), { recursive: true });
        await mkdir(root, { mode: PRIVATE_FOLDER }).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
        });
        await mkdir(place.folder, { mode: PRIVATE_FOLDER });
        await write(place, record);
        await using handle = await openHandle(root, "r");
        await handle.sync();
      } catch (error) {
        throw unwritable("folder can't be made", error, { folder: place.folder });
      }
      return place;
    },
    write,
    /** @throws CemError `WORKFLOW_RUN_NOT_FOUND` */
    async find(id: string): Promise<RunFolder> {
      const place = placeOf(id);
      const found = RUN_ID.test(id) ? await lstat(place.folder).catch(ignoreMissing) : undefined;
      if (found?.isDirectory() !== true) throw noRun(id);
      return place;
    },
    /** All runs, most recently active first. */
    async latest(): Promise<(RunFolder & { usedMs: number })[]> {
      const entries = (await readdir(root, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
      const found = await Promise.all(
        entries.map(async (entry) => {
          if (!entry.isDirectory() || !RUN_ID.test(entry.name)) return [];
          const place = placeOf(entry.name);
          const last = await stat(place.journal).catch(() => stat(place.folder).catch(ignoreMissing));
          return last === undefined ? [] : [{ ...place, usedMs: last.mtimeMs }];
        }),
      );
      return found.flat().toSorted((one, other) => other.usedMs - one.usedMs);
    },
    /** Removes a run if it is still meant. Renamed first: a partly removed folder would look like a run that has done nothing yet. */
    async remove(place: RunFolder, isMeant: () => Promise<boolean>): Promise<void> {
      const lock = await takeRun(place);
      const gone = path.join(root, `${REMOVED}${place.id}`);
      try {
        if (!(await isMeant())) return;
        await rename(place.folder, gone);
      } finally {
        lock.release();
      }
      await removeFolder(gone);
    },
    /** Removes leftovers of runs whose removal was interrupted by a kill. */
    async removeRest(): Promise<void> {
      for (const name of (await readdir(root).catch(ignoreMissing)) ?? [])
        if (name.startsWith(REMOVED)) await removeFolder(path.join(root, name));
    },
    /** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
    async read({ id, file }: RunFolder): Promise<RunRecord> {
      try {
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
        if (text.length > MAX_RUN_FILE_BYTES) throw new Error("it is too large");
        const read = runRecord.safeParse({ ...(JSON.parse(text) as object), id });
        if (!read.success) throw new Error("it is not a record of a run");
        return read.data;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new CemError("WORKFLOW_RUN_UNREADABLE", `What run ${id} began with can't be read: ${reason}.`, {
          details: { run: id },
          cause: error,
        });
      }
    },
  };
}

function noRun(id: string): CemError {
  return new CemError("WORKFLOW_RUN_NOT_FOUND", `There is no run ${JSON.stringify(id)}.`, {
    details: { run: id },
  });
}

/** Creates a unique id, which begins with the name of the workflow. */
export function createRunId(workflow: string): string {
  const slug = workflow.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-");
  const name = slug.slice(0, SLUG_CHARACTERS).replaceAll(/^-|-$/gu, "");
  return `${name || "run"}-${randomBytes(5).toString("hex")}`;
}

/** The lock file of a run, held by the process that executes it. */
export function runLockOf({ folder }: RunFolder): string {
  return path.join(folder, "lock");
}

/** @throws CemError `WORKFLOW_RUN_BUSY` when another process has it, `WORKFLOW_RUN_NOT_FOUND` when it was removed. */
export async function takeRun(place: RunFolder): Promise<FileLock> {
  const busy = (): CemError => new CemError("WORKFLOW_RUN_BUSY", "Another process executes this run.");
  try {
    return await FileLock.take(runLockOf(place), { waitMs: 0, busy });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? noRun(place.id) : error;
  }
}
