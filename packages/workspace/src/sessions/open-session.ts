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

/** A longer log goes on in another file, so that writing one stays cheap. */
const MAX_TASKS = 1_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** The shortest time between two writes: each waits for the disk twice. */
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
  /** When the next write to the disk of all sessions' logs may begin, unless somebody waits for it. */
  disk: { restUntil: number };
  /** The log to go on with. */
  earlier: Promise<StoredSession> | undefined;
  /** Resolves when the log before this one is written, whose number is lower. */
  before: Promise<void> | undefined;
  startedAt: Date;
}

/** A log that is gone on with may come from a clock that was ahead. */
function latest(one: string, other: string): string {
  return Date.parse(one) < Date.parse(other) ? other : one;
}

/** The log of one session while it goes on. */
export class OpenSession {
  readonly #settings: SessionLogSettings;
  readonly #start: SessionStart;
  readonly #added: SessionTask[] = [];
  /** Each task as JSON, in the order of the file. */
  readonly #written: string[] = [];
  readonly #tasks: SessionTask[] = [];
  /** How many of them are in the file, and how the file was known when this log had written it. */
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
  /** How many wait until all is written. */
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
    // The answer goes first.
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
        // Told once while it lasts.
        if (String(problem) !== String(this.#problem)) this.#settings.onProblem?.(problem);
        this.#problem = problem;
        return;
      }
      this.#start.disk.restUntil = performance.now() + MIN_REST_MS;
    }
  }

  /**
   * Waits before a write, unless somebody waits for it. A process may end meanwhile: everything is written. The logs of all
   * sessions take turns, so that many of them write no more often than one, but for those that have waited for long.
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

  /** Takes in what other logs have written: several may go on with a session at once. */
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
      // Where machines share sessions, the shared storage waits for its own disk.
      const isDurable = this.#settings.nextNumber === undefined;
      await folder.replace(`${this.#id}.json`, this.#encode(this.#id), isDurable);
    }
  }

  /** Where it fails, nothing of the context is kept. */
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
  /** Absolute host path of the folder that the guest sees as `/workspace`. */
  workspaceDir: string;
  /** The folder that holds the folder `sessions`. Default: the workspace. */
  logDir?: string | undefined;
  /** Whether that folder is still the same. Where it is not, nothing is written. */
  isThere?: (() => Promise<boolean>) | undefined;
  ownerId?: string | undefined;
  /** The session to go on with, for runs that name none: `session_001`, `1`, or `last`. */
  resume?: string | undefined;
  /** Gives the number of the next session, where other machines write logs, too. Taken ones are passed over. */
  nextNumber?: (() => Promise<number>) | undefined;
  redact?: Redact | undefined;
  /** Receives why a log could not be written. Runs go on without it. */
  onProblem?: ((error: unknown) => void) | undefined;
}
