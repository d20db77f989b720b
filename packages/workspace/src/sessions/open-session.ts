import { lstat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, writeFailure } from "@cem/core";
import type { JsonValue, SessionCheckpoint, SessionRecord, SessionTask } from "@cem/core";
import type { ContainedFolder } from "@cem/core/files";
import { withLock } from "../files/file-lock.ts";
import { STATE_ENDINGS } from "../state/state-format.ts";
import {
  createNext,
  hasFile,
  markCurrent,
  openSessions,
  readRecord,
  SESSIONS_FOLDER,
} from "./session-files.ts";
import type { StoredSession } from "./session-files.ts";
import { redacted, toSessionTask, type Redact, type SessionRun } from "./session-task.ts";

/** A longer log continues in another file, so that writing stays cheap. */
const MAX_TASKS = 1_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Minimum time between two writes, since each waits for the disk twice. */
const MIN_REST_MS = 500;
const MAX_REST_MS = 1_000;
const MAX_STATE_FILES = 50;
const TASK_DIGITS = 3;
/** Paths of files in the text of a program, which may be anything. */
const NAMED_FILE = new RegExp(
  `["'\`](?:/workspace/|\\./)?([\\w.-]{1,100}(?:/[\\w.-]{1,100}){0,4}(?:${STATE_ENDINGS.map((ending) => `\\${ending}`).join("|")}))["'\`]`,
  "g",
);

interface SessionStart {
  /** The earliest time of the next write of any session's log, unless a caller waits for it. */
  disk: { restUntil: number };
  /** The log to continue. */
  earlier: Promise<StoredSession> | undefined;
  /** Resolves when the previous log, whose number is lower, is written. */
  before: Promise<void> | undefined;
  startedAt: Date;
}

/** A continued log may have times of a clock that was ahead. */
function latest(one: string, other: string): string {
  return Date.parse(one) < Date.parse(other) ? other : one;
}

export type OpenSession = ReturnType<typeof startSession>;

export function startSession(
  settings: SessionLogSettings,
  { disk, earlier, before, startedAt }: SessionStart,
) {
  const { isThere, logDir, nextNumber, ownerId, redact, workspaceDir } = settings;
  const added: SessionTask[] = [];
  /** Each task as JSON, in the order of the file. */
  const written: string[] = [];
  const tasks: SessionTask[] = [];
  const stateFiles = new Set<string>();
  const record: StoredSession = {
    session_id: "",
    customer_uid: ownerId ?? null,
    started_at: startedAt.toISOString(),
    ended_at: null,
    tasks: [],
    state_files: [],
    checkpoint: null,
  };
  let isLoaded = false;
  /** The number of tasks in the file, and the file's identity after this log's last write. */
  let stored = 0;
  let mark: string | undefined;
  let nextCheckpoint: { step: number | undefined; context: JsonValue; at: Date } | undefined;
  let endedAt: Date | undefined;
  let characters = 0;
  let isDue = false;
  let writing: Promise<void> | undefined;
  /** Why the last write failed. */
  let problem: unknown;
  let cutRest: AbortController | undefined;
  /** The number of callers that wait until everything is written. */
  let waiting = 0;
  earlier?.catch(() => {});

  async function settle(): Promise<void> {
    waiting += 1;
    cutRest?.abort();
    for (let one = writing; one !== undefined; one = writing) await one;
    waiting -= 1;
  }

  function writeSoon(): void {
    isDue = true;
    writing ??= writeAll().finally(() => (writing = undefined));
  }

  async function writeAll(): Promise<void> {
    // Lets the answer go first.
    await new Promise((resolve) => setImmediate(resolve));
    await before;
    while (isDue) {
      await rest();
      isDue = false;
      try {
        await write();
        problem = undefined;
      } catch (error) {
        const failure = writeFailure(error, "The log of the session", "the file system of the workspace");
        // Reported once while it persists.
        if (String(failure) !== String(problem)) settings.onProblem?.(failure);
        problem = failure;
        return;
      }
      disk.restUntil = performance.now() + MIN_REST_MS;
    }
  }

  /**
   * Delays a write, unless a caller waits for it. If the process exits meanwhile, everything is written. The logs of all
   * sessions take turns, so that many sessions don't write more often than one, except for logs that have waited too long.
   */
  async function rest(): Promise<void> {
    const latestAt = performance.now() + MAX_REST_MS;
    for (;;) {
      const ms = Math.min(disk.restUntil, latestAt) - performance.now();
      if (ms <= 0 || waiting > 0) break;
      cutRest = new AbortController();
      await sleep(ms, undefined, { signal: cutRest.signal }).catch(() => {});
    }
    disk.restUntil = performance.now() + MIN_REST_MS;
  }

  async function write(): Promise<void> {
    await loadEarlier();
    await takeAdded();
    if ((await isThere?.()) === false) return;
    const root = logDir ?? workspaceDir;
    await using folder = await openSessions(root, true);
    if (folder === undefined) return;
    const id = record.session_id;
    if (id === "") await writeTo(folder);
    else
      await withLock(path.join(root, SESSIONS_FOLDER, id), `the log of ${id}`, async () => {
        await takeOthers(folder, `${id}.json`);
        await writeTo(folder);
        mark = await markOf(folder, `${id}.json`);
      });
    stored = tasks.length;
    markCurrent(folder, record.session_id);
  }

  /** Merges tasks written by other logs, since several may continue a session concurrently. */
  async function takeOthers(folder: ContainedFolder, file: string): Promise<void> {
    if (mark !== undefined && mark === (await markOf(folder, file))) return;
    const found = await readRecord(folder, file);
    if (found === undefined) return;
    const own = tasks.splice(stored);
    written.length = stored;
    for (const task of [...found.tasks.slice(stored), ...own]) keep({ ...task, task_id: nextTaskId() });
    for (const stateFile of found.state_files) stateFiles.add(stateFile);
    record.checkpoint = found.checkpoint ?? record.checkpoint;
  }

  async function writeTo(folder: ContainedFolder): Promise<void> {
    if (nextCheckpoint !== undefined) {
      const { step, context, at } = nextCheckpoint;
      record.checkpoint = {
        step: step ?? tasks.length,
        last_task: tasks.at(-1)?.task_id ?? null,
        context: await redactContext(context),
        timestamp: at.toISOString(),
      };
      nextCheckpoint = undefined;
    }
    record.ended_at = endedAt === undefined ? null : latest(endedAt.toISOString(), record.started_at);
    record.state_files = [...stateFiles];
    if (record.session_id === "") record.session_id = await createNext(folder, encode, nextNumber);
    else {
      // If machines share sessions, the shared storage ensures durability.
      const isDurable = nextNumber === undefined;
      await folder.replace(`${record.session_id}.json`, encode(record.session_id), isDurable);
    }
  }

  /** If it fails, the context is dropped. */
  async function redactContext(context: JsonValue): Promise<JsonValue> {
    try {
      return redact === undefined ? context : await redact(context);
    } catch {
      return null;
    }
  }

  async function loadEarlier(): Promise<void> {
    if (isLoaded) return;
    const loaded = await earlier;
    isLoaded = true;
    if (loaded === undefined) return;
    Object.assign(record, loaded);
    for (const file of loaded.state_files) stateFiles.add(file);
    for (const task of loaded.tasks) keep(task);
    stored = tasks.length;
  }

  async function takeAdded(): Promise<void> {
    for (const task of added.splice(0)) {
      task.task_id = nextTaskId();
      await noteStateFiles(task.code);
      keep(await redacted(task, redact));
    }
  }

  function nextTaskId(): string {
    return `task_${String(tasks.length + 1).padStart(TASK_DIGITS, "0")}`;
  }

  function keep(task: SessionTask): void {
    const text = JSON.stringify(task);
    characters += text.length;
    written.push(text);
    tasks.push(task);
  }

  async function noteStateFiles(code: string): Promise<void> {
    for (const [, found = ""] of code.matchAll(NAMED_FILE)) {
      if (stateFiles.size >= MAX_STATE_FILES) return;
      const parts = found.split("/");
      if (parts.includes("..") || parts[0] === SESSIONS_FOLDER || stateFiles.has(`/workspace/${found}`))
        continue;
      const name = parts.at(-1) ?? "";
      if (await hasFile(workspaceDir, parts.slice(0, -1), name)) stateFiles.add(`/workspace/${found}`);
    }
  }

  function encode(id: string): Uint8Array {
    const { tasks: _, checkpoint, state_files: files, ...head } = { ...record, session_id: id };
    const opening = JSON.stringify(head).slice(0, -1);
    const all = written.length === 0 ? "[]" : `[\n${written.join(",\n")}\n]`;
    return Buffer.from(
      `${opening},\n"tasks":${all},\n"state_files":${JSON.stringify(files)},\n"checkpoint":${JSON.stringify(checkpoint)}}\n`,
    );
  }

  return {
    isFull: () => tasks.length + added.length >= MAX_TASKS || characters > MAX_CHARACTERS,
    add(run: SessionRun, at: Date): void {
      added.push(toSessionTask(run, at));
      writeSoon();
    },
    async checkpoint(step: number | undefined, context: JsonValue, at: Date): Promise<SessionCheckpoint> {
      const own = { step, context, at };
      nextCheckpoint = own;
      writeSoon();
      await settle();
      if (problem !== undefined) throw problem;
      // Nothing is written to a folder that was removed meanwhile.
      if (nextCheckpoint === own || record.checkpoint === null) throw folderGone(logDir ?? workspaceDir);
      return record.checkpoint;
    },
    async read(): Promise<SessionRecord | undefined> {
      await settle();
      return isLoaded ? { ...record, tasks: [...tasks] } : undefined;
    },
    async end(at: Date): Promise<void> {
      endedAt = at;
      writeSoon();
      await settle();
    },
  };
}

function folderGone(folder: string): CemError {
  const message = "The checkpoint was not saved: the folder of the sessions is not there any more.";
  return new CemError("WORKSPACE_UNUSABLE", message, { details: { folder } });
}

/** Changes with each write of a file. */
async function markOf(folder: ContainedFolder, file: string): Promise<string | undefined> {
  const found = await lstat(folder.child(file), { bigint: true }).catch(() => undefined);
  return found && `${found.ino} ${found.mtimeNs} ${found.size}`;
}

export interface SessionLogSettings {
  /** Absolute host path of the folder mounted as `/workspace`. */
  workspaceDir: string;
  /** The folder that holds the folder `sessions`. Default: the workspace. */
  logDir?: string | undefined;
  /** Whether that folder is still the same. If not, nothing is written. */
  isThere?: (() => Promise<boolean>) | undefined;
  ownerId?: string | undefined;
  /** The session to resume, for runs that name none: `session_001`, `1`, or `last`. */
  resume?: string | undefined;
  /** Returns the number of the next session if other machines write logs, too. Used numbers are skipped. */
  nextNumber?: (() => Promise<number>) | undefined;
  redact?: Redact | undefined;
  /** Receives the error if a log could not be written. Runs continue without it. */
  onProblem?: ((error: unknown) => void) | undefined;
}
