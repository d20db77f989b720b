import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync } from "node:fs";
import { link, lstat, readdir, rm } from "node:fs/promises";
import { CemError, isObject, parseJson } from "@cem/core";
import type { JsonValue, SessionCheckpoint, SessionRecord, SessionTask } from "@cem/core";
import { NotAFolder, openContained, readContained, UnusableFile } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";

/** The folder of session logs in the workspace. */
export const SESSIONS_FOLDER = "sessions";
/** A second name of the log that was last written. */
const CURRENT_FILE = "current_session.json";
const FILE_NAME = /^session_(\d{3,9})\.json$/;
const SESSION_ID = /^(?:session_)?0*(\d{1,9})$/;
const MAX_TEXT_CHARACTERS = 1024 * 1024;
const NUMBER_DIGITS = 3;

/** The id of a session by its number: `session_001`. */
function sessionId(number: number): string {
  return `session_${String(number).padStart(NUMBER_DIGITS, "0")}`;
}

/** Parses the number in a session's id (`session_001`, `001`, `1`), or in the name of its file. */
function numberOf(text: string, pattern = SESSION_ID): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

type Members = Record<string, unknown>;

/** The log of a session as it is stored. */
export interface StoredSession extends SessionRecord {
  /** The owner of the workspace. */
  customer_uid: string | null;
}

/** Parses a session's log, which guest code may have modified. `undefined` if it is invalid. */
function toSessionRecord(text: string): StoredSession | undefined {
  const parsed = parseJson(text);
  if (!isObject(parsed) || typeof parsed["session_id"] !== "string") return undefined;
  const { tasks, state_files: files } = parsed;
  return {
    session_id: textOf(parsed["session_id"]),
    customer_uid: typeof parsed["customer_uid"] === "string" ? textOf(parsed["customer_uid"]) : null,
    started_at: textOf(parsed["started_at"]),
    ended_at: typeof parsed["ended_at"] === "string" ? textOf(parsed["ended_at"]) : null,
    tasks: Array.isArray(tasks) ? tasks.filter(isObject).map(toTask) : [],
    state_files: Array.isArray(files) ? files.filter((file) => typeof file === "string") : [],
    checkpoint: isObject(parsed["checkpoint"]) ? toCheckpoint(parsed["checkpoint"]) : null,
  };
}

function toTask(task: Members): SessionTask {
  return {
    task_id: textOf(task["task_id"]),
    description: textOf(task["description"]),
    code: textOf(task["code"]),
    result: (task["result"] ?? null) as JsonValue,
    output: textOf(task["output"]),
    timestamp: textOf(task["timestamp"]),
    error: typeof task["error"] === "string" ? textOf(task["error"]) : null,
  };
}

function toCheckpoint({ step, last_task: last, context, timestamp }: Members): SessionCheckpoint {
  return {
    step: typeof step === "number" && Number.isFinite(step) ? step : 0,
    last_task: typeof last === "string" ? textOf(last) : null,
    context: (context ?? null) as JsonValue,
    timestamp: textOf(timestamp),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_CHARACTERS) : "";
}

const MAX_SESSION_BYTES = 64 * 1024 * 1024;
const MAX_SHOWN_CHARACTERS = 100;
const DEFAULT_LISTED = 20;
/** Maximum number of names tried if other processes take the next ones. */
const MAX_TRIES = 1_000;

/** A session in a list. */
export interface SessionSummary extends Pick<SessionRecord, "session_id" | "started_at" | "ended_at"> {
  /** The number of its tasks. */
  tasks: number;
  /** Description of the last task; empty if there is none. */
  lastTask: string;
  step: number | undefined;
}

/**
 * Lists sessions, newest first.
 *
 * @param options - `max`: the maximum number to list. Default 20.
 */
export async function listSessions(
  workspaceDir: string,
  { max = DEFAULT_LISTED }: { max?: number | undefined } = {},
): Promise<SessionSummary[]> {
  await using folder = await openSessions(workspaceDir, false);
  if (folder === undefined) return [];
  const numbers = (await numbersIn(folder)).slice(-max).toReversed();
  const records = await Promise.all(numbers.map((number) => readRecord(folder, `${sessionId(number)}.json`)));
  return records
    .filter((record) => record !== undefined)
    .map(({ session_id, started_at, ended_at, tasks, checkpoint }) => ({
      session_id,
      started_at,
      ended_at,
      tasks: tasks.length,
      lastTask: tasks.at(-1)?.description ?? "",
      step: checkpoint?.step,
    }));
}

/**
 * Reads a session's log.
 *
 * @param id - `session_001`, `1`, or `last` for the one that was last written.
 * @throws CemError `SESSION_NOT_FOUND`
 */
export async function readSession(workspaceDir: string, id: string): Promise<StoredSession> {
  const number = numberOf(id);
  const name = id === "last" ? CURRENT_FILE : number === undefined ? undefined : `${sessionId(number)}.json`;
  await using folder = name === undefined ? undefined : await openSessions(workspaceDir, false);
  const record = folder && (await readRecord(folder, name as string));
  // Guest code may have written a different id, which is used as a file name.
  const own = number ?? numberOf(record?.session_id ?? "");
  if (record !== undefined && own !== undefined) return { ...record, session_id: sessionId(own) };
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN_CHARACTERS));
  throw new CemError("SESSION_NOT_FOUND", `There is no session ${shown}.`, { details: { session: id } });
}

/** Opens the folder of session logs. @throws CemError `WORKSPACE_UNUSABLE` */
export async function openSessions(
  workspaceDir: string,
  create: boolean,
): Promise<ContainedFolder | undefined> {
  try {
    return await openContained(workspaceDir, [SESSIONS_FOLDER], create);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (!(error instanceof NotAFolder)) throw error;
    throw new CemError(
      "WORKSPACE_UNUSABLE",
      `Sessions can't be logged: "${SESSIONS_FOLDER}" in the workspace is a link or a file, not a folder.`,
      { details: { workspaceDir }, cause: error },
    );
  }
}

/** Atomically creates the next session's file with its content; returns its id. */
export async function createNext(
  folder: ContainedFolder,
  contentOf: (id: string) => Uint8Array,
  nextNumber?: () => Promise<number>,
): Promise<string> {
  const highest = (await numbersIn(folder)).at(-1) ?? 0;
  let number = highest;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    do number = (await nextNumber?.()) ?? number + 1;
    while (number <= highest);
    const id = sessionId(number);
    const own = `${id}.${randomBytes(6).toString("hex")}.new`;
    try {
      await folder.replace(own, contentOf(id));
      await link(folder.child(own), folder.child(`${id}.json`));
      return id;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await rm(folder.child(own), { force: true });
    }
  }
  throw new CemError("WORKSPACE_UNUSABLE", `No name is free for a session's log after ${sessionId(number)}.`);
}

/** Gives a session's file the second name of the current one. */
export function markCurrent(folder: ContainedFolder, id: string): void {
  const beside = folder.child(`.${CURRENT_FILE}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    linkSync(folder.child(`${id}.json`), beside);
    renameSync(beside, folder.child(CURRENT_FILE));
  } finally {
    // Renaming between two names of the same file does nothing.
    rmSync(beside, { force: true });
  }
}

/** Whether a workspace file exists; targets of links don't count. */
export async function hasFile(
  workspaceDir: string,
  folders: readonly string[],
  name: string,
): Promise<boolean> {
  try {
    await using folder = await openContained(workspaceDir, folders, false);
    return folder !== undefined && (await lstat(folder.child(name))).isFile();
  } catch {
    return false;
  }
}

async function numbersIn(folder: ContainedFolder): Promise<number[]> {
  const names = await readdir(folder.child("."));
  return names
    .map((name) => numberOf(name, FILE_NAME))
    .filter((number) => number !== undefined)
    .toSorted((one, other) => one - other);
}

export async function readRecord(folder: ContainedFolder, name: string): Promise<StoredSession | undefined> {
  try {
    const check = (bytes: number): void => {
      if (bytes > MAX_SESSION_BYTES) throw new UnusableFile(`it has ${bytes} bytes`);
    };
    const read = await readContained(folder, name, { check });
    return read && toSessionRecord(read.bytes.toString("utf8"));
  } catch (error) {
    if (error instanceof UnusableFile) return undefined;
    throw error;
  }
}
