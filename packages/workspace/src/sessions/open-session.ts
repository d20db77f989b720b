import { lstat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeFailure } from "@cem/core";
import type { JsonValue, SessionCheckpoint, SessionRecord, SessionTask } from "@cem/core";
import type { ContainedFolder } from "../files/contained-files.ts";
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
import { redacted, toSessionTask } from "./session-task.ts";
import type { Redact, SessionRun } from "./session-task.ts";

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

/** How a session begins. */
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

/** The log of one active session. */
export class OpenSession {
  readonly #settings: SessionLogSettings;
  readonly #start: SessionStart;
  readonly #added: SessionTask[] = [];
  /** Each task as JSON, in the order of the file. */
  readonly #written: string[] = [];
  readonly #tasks: SessionTask[] = [];
  /** The number of them in the file, and the file's identity after this log's last write. */
  #stored = 0;
  #mark: string | undefined;
  readonly #stateFiles = new Set<string>();
  #record: StoredSession | undefined;
  #checkpoint: { step: number | undefined; context: JsonValue; at: Date } | undefined;
  #id: string | undefined;
  #endedAt: Date | undefined;
  #characters = 0;
  #isDue = false;
  #writing: Promise<void> | undefined;
  /** Why the last write failed. */
  #problem: unknown;
  #cutRest: AbortController | undefined;
  /** The number of callers that wait until everything is written. */
  #waiting = 0;

  constructor(settings: SessionLogSettings, start: SessionStart) {
    this.#settings = settings;
    this.#start = start;
    start.earlier?.catch(() => {});
  }

  get isFull(): boolean {
    return this.#tasks.length + this.#added.length >= MAX_TASKS || this.#characters > MAX_CHARACTERS;
  }

  add(run: SessionRun, at: Date): void {
    this.#added.push(toSessionTask(run, at));
    this.#writeSoon();
  }

  async checkpoint(step: number | undefined, context: JsonValue, at: Date): Promise<SessionCheckpoint> {
    this.#checkpoint = { step, context, at };
    this.#writeSoon();
    await this.#settled();
    const checkpoint = this.#record?.checkpoint;
    if (this.#problem !== undefined || checkpoint === undefined || checkpoint === null) throw this.#problem;
    return checkpoint;
  }

  async read(): Promise<SessionRecord | undefined> {
    await this.#settled();
    return this.#record && { ...this.#record, tasks: [...this.#tasks] };
  }

  async end(at: Date): Promise<void> {
    this.#endedAt = at;
    this.#writeSoon();
    await this.#settled();
  }

  async #settled(): Promise<void> {
    this.#waiting += 1;
    this.#cutRest?.abort();
    while (this.#writing !== undefined) await this.#writing;
    this.#waiting -= 1;
  }

  #writeSoon(): void {
    this.#isDue = true;
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
  }

  async #writeAll(): Promise<void> {
    // Lets the answer go first.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#start.before;
    while (this.#isDue) {
      await this.#rest();
      this.#isDue = false;
      try {
        await this.#write();
        this.#problem = undefined;
      } catch (error) {
        const problem = writeFailure(error, "The log of the session", "the file system of the workspace");
        // Reported once while it persists.
        if (String(problem) !== String(this.#problem)) this.#settings.onProblem?.(problem);
        this.#problem = problem;
        return;
      }
      this.#start.disk.restUntil = performance.now() + MIN_REST_MS;
    }
  }

  /**
   * Delays a write, unless a caller waits for it. If the process exits meanwhile, everything is written. The logs of all
   * sessions take turns, so that many sessions don't write more often than one, except for logs that have waited too long.
   */
  async #rest(): Promise<void> {
    const latest = performance.now() + MAX_REST_MS;
    for (;;) {
      const ms = Math.min(this.#start.disk.restUntil, latest) - performance.now();
      if (ms <= 0 || this.#waiting > 0) break;
      this.#cutRest = new AbortController();
      await sleep(ms, undefined, { signal: this.#cutRest.signal }).catch(() => {});
    }
    this.#start.disk.restUntil = performance.now() + MIN_REST_MS;
  }

  async #write(): Promise<void> {
    await this.#loadEarlier();
    await this.#takeAdded();
    const { isThere, logDir, workspaceDir } = this.#settings;
    if ((await isThere?.()) === false) return;
    const root = logDir ?? workspaceDir;
    await using folder = await openSessions(root, true);
    if (folder === undefined) return;
    const id = this.#id;
    if (id === undefined) await this.#writeTo(folder);
    else
      await withLock(path.join(root, SESSIONS_FOLDER, id), `the log of ${id}`, async () => {
        await this.#takeOthers(folder, `${id}.json`);
        await this.#writeTo(folder);
        this.#mark = await markOf(folder, `${id}.json`);
      });
    this.#stored = this.#tasks.length;
    markCurrent(folder, this.#id as string);
  }

  /** Merges tasks written by other logs, since several may continue a session concurrently. */
  async #takeOthers(folder: ContainedFolder, file: string): Promise<void> {
    if (this.#mark !== undefined && this.#mark === (await markOf(folder, file))) return;
    const found = await readRecord(folder, file);
    if (found === undefined) return;
    const own = this.#tasks.splice(this.#stored);
    this.#written.length = this.#stored;
    for (const task of [...found.tasks.slice(this.#stored), ...own])
      this.#keep({ ...task, task_id: this.#nextTaskId() });
    for (const stateFile of found.state_files) this.#stateFiles.add(stateFile);
    const record = this.#record as StoredSession;
    record.checkpoint = found.checkpoint ?? record.checkpoint;
  }

  async #writeTo(folder: ContainedFolder): Promise<void> {
    const record = this.#record as StoredSession;
    if (this.#checkpoint !== undefined) {
      const { step, context, at } = this.#checkpoint;
      const last = this.#tasks.at(-1)?.task_id ?? null;
      record.checkpoint = {
        step: step ?? this.#tasks.length,
        last_task: last,
        context: await this.#redactContext(context),
        timestamp: at.toISOString(),
      };
      this.#checkpoint = undefined;
    }
    record.ended_at =
      this.#endedAt === undefined ? null : latest(this.#endedAt.toISOString(), record.started_at);
    record.state_files = [...this.#stateFiles];
    if (this.#id === undefined)
      this.#id = await createNext(folder, (id) => this.#encode(id), this.#settings.nextNumber);
    else {
      // If machines share sessions, the shared storage ensures durability.
      const isDurable = this.#settings.nextNumber === undefined;
      await folder.replace(`${this.#id}.json`, this.#encode(this.#id), isDurable);
    }
  }

  /** If it fails, the context is dropped. */
  async #redactContext(context: JsonValue): Promise<JsonValue> {
    try {
      return this.#settings.redact === undefined ? context : await this.#settings.redact(context);
    } catch {
      return null;
    }
  }

  async #loadEarlier(): Promise<void> {
    if (this.#record !== undefined) return;
    const earlier = await this.#start.earlier;
    this.#record = earlier ?? {
      session_id: "",
      customer_uid: this.#settings.ownerId ?? null,
      started_at: this.#start.startedAt.toISOString(),
      ended_at: null,
      tasks: [],
      state_files: [],
      checkpoint: null,
    };
    this.#id = earlier?.session_id;
    for (const file of earlier?.state_files ?? []) this.#stateFiles.add(file);
    for (const task of earlier?.tasks ?? []) this.#keep(task);
    this.#stored = this.#tasks.length;
  }

  async #takeAdded(): Promise<void> {
    for (const task of this.#added.splice(0)) {
      task.task_id = this.#nextTaskId();
      await this.#noteStateFiles(task.code);
      this.#keep(await redacted(task, this.#settings.redact));
    }
  }

  #nextTaskId(): string {
    return `task_${String(this.#tasks.length + 1).padStart(TASK_DIGITS, "0")}`;
  }

  #keep(task: SessionTask): void {
    const text = JSON.stringify(task);
    this.#characters += text.length;
    this.#written.push(text);
    this.#tasks.push(task);
  }

  async #noteStateFiles(code: string): Promise<void> {
    for (const [, found = ""] of code.matchAll(NAMED_FILE)) {
      if (this.#stateFiles.size >= MAX_STATE_FILES) return;
      const parts = found.split("/");
      if (parts.includes("..") || parts[0] === SESSIONS_FOLDER || this.#stateFiles.has(`/workspace/${found}`))
        continue;
      const name = parts.at(-1) ?? "";
      if (await hasFile(this.#settings.workspaceDir, parts.slice(0, -1), name))
        this.#stateFiles.add(`/workspace/${found}`);
    }
  }

  #encode(id: string): Uint8Array {
    const record = this.#record as StoredSession;
    record.session_id = id;
    const { tasks: _, checkpoint, state_files: files, ...head } = record;
    const opening = JSON.stringify(head).slice(0, -1);
    const tasks = this.#written.length === 0 ? "[]" : `[\n${this.#written.join(",\n")}\n]`;
    return Buffer.from(
      `${opening},\n"tasks":${tasks},\n"state_files":${JSON.stringify(files)},\n"checkpoint":${JSON.stringify(checkpoint)}}\n`,
    );
  }
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
