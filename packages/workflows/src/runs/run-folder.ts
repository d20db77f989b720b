import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { PRIVATE_FOLDER, replaceFile } from "@cem/files";

const RUN_ID = /^[a-z0-9][a-z0-9-]{0,80}$/u;
const RUN_FILE = "run.json";
const MAX_RUN_FILE_BYTES = 64 * 1024 * 1024;
const SLUG_CHARACTERS = 40;

/** What a run began with, and goes on with whatever becomes of the files it came from. */
export interface RunRecord {
  id: string;
  workflow: string;
  version: string;
  /** The session of its calls. */
  session: string;
  /** In ISO 8601. */
  startedAt: string;
  definition: JsonObject;
  /** The workflows that are part of it, by the names it calls them. */
  parts: Readonly<Record<string, JsonObject>>;
  /** With tokens in place of personal values. */
  variables: JsonObject;
}

/** The folder of one run. */
export interface RunFolder {
  id: string;
  folder: string;
  journal: string;
}

/** The folders of runs. Guest code can read them, so nothing is followed that leads out of it. */
export class RunFolders {
  readonly #root: string;
  readonly #parts: readonly string[];

  /** @param root - The workspace, which exists. @param parts - The folders below it. */
  constructor(root: string, parts: readonly string[] = ["workflows", "runs"]) {
    this.#root = root;
    this.#parts = parts;
  }

  /**
   * Makes the folder of a new run and writes down what it begins with.
   *
   * @throws CemError `WORKFLOW_RUN_UNWRITABLE`, `WORKSPACE_LINK_REFUSED`
   */
  async create(record: RunRecord): Promise<RunFolder> {
    const place = this.#place(record.id);
    try {
      await mkdir(path.join(this.#root, ...this.#parts), { recursive: true, mode: PRIVATE_FOLDER });
      await this.#assertContained();
      await mkdir(place.folder, { mode: PRIVATE_FOLDER });
      await this.write(place, record);
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new CemError("WORKFLOW_RUN_UNWRITABLE", `The run's folder can't be made: ${reason}.`, {
        details: { folder: place.folder, code: (error as NodeJS.ErrnoException).code },
        cause: error,
      });
    }
    return place;
  }

  /** Replaces what a run began with, durably. */
  async write({ folder }: RunFolder, record: RunRecord): Promise<void> {
    await replaceFile(path.join(folder, RUN_FILE), JSON.stringify(record), { makeFolders: false });
    await syncFile(path.join(folder, RUN_FILE));
    await syncFile(folder);
    await syncFile(path.dirname(folder));
  }

  /** @throws CemError `WORKFLOW_RUN_NOT_FOUND`, `WORKSPACE_LINK_REFUSED` */
  async find(id: string): Promise<RunFolder> {
    const place = this.#place(id);
    if (!RUN_ID.test(id) || !(await this.ids()).includes(id)) {
      throw new CemError("WORKFLOW_RUN_NOT_FOUND", `There is no run ${JSON.stringify(id)}.`, {
        details: { run: id },
      });
    }
    return place;
  }

  /** The ids of all runs. */
  async ids(): Promise<string[]> {
    try {
      await this.#assertContained();
      const found = await readdir(path.join(this.#root, ...this.#parts), { withFileTypes: true });
      return found.flatMap((entry) => (entry.isDirectory() && RUN_ID.test(entry.name) ? [entry.name] : []));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
  async read({ id, folder }: RunFolder): Promise<RunRecord> {
    try {
      const text = await readFile(path.join(folder, RUN_FILE), "utf8");
      if (text.length > MAX_RUN_FILE_BYTES) throw new Error("it is too large");
      const record = JSON.parse(text) as Partial<RunRecord>;
      const { workflow, version, session, startedAt, definition, parts, variables } = record;
      if (!isObject(definition) || !isObject(parts) || !isObject(variables))
        throw new Error("it is no record of a run");
      return {
        id,
        workflow: String(workflow),
        version: String(version),
        session: String(session),
        startedAt: String(startedAt),
        definition,
        parts,
        variables,
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CemError("WORKFLOW_RUN_UNREADABLE", `What run ${id} began with can't be read: ${reason}.`, {
        details: { run: id },
        cause: error,
      });
    }
  }

  #place(id: string): RunFolder {
    const folder = path.join(this.#root, ...this.#parts, id);
    return { id, folder, journal: path.join(folder, "journal.jsonl") };
  }

  async #assertContained(): Promise<void> {
    const folder = path.join(this.#root, ...this.#parts);
    if ((await realpath(folder)) === path.join(await realpath(this.#root), ...this.#parts)) return;
    throw new CemError("WORKSPACE_LINK_REFUSED", `${folder} leads out of the workspace.`, {
      details: { folder },
    });
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An id that no other run has, which begins with the name of its workflow. */
export function createRunId(workflow: string): string {
  return `${slugOf(workflow)}-${randomBytes(5).toString("hex")}`;
}

function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .slice(0, SLUG_CHARACTERS);
  const trimmed = slug.replaceAll(/^-|-$/gu, "");
  return trimmed === "" ? "run" : trimmed;
}

async function syncFile(file: string): Promise<void> {
  await using handle = await open(file, "r");
  await handle.sync();
}
