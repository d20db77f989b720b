import type { JsonValue } from "./json.ts";
import type { ErrorInfo } from "./errors.ts";

/** One run in a session's log, as written to the file. */
export interface SessionTask {
  /** `task_001`, counted from 1 in its session. */
  task_id: string;
  /** The task in the user's words. Empty for given code. */
  description: string;
  code: string;
  /** The value that the code returned. A large one is left out. */
  result: JsonValue;
  /** The beginning of what the code printed. */
  output: string;
  /** In ISO 8601. */
  timestamp: string;
  /** Why the run failed. `null` when it succeeded. */
  error: string | null;
}

/** A point to resume from. */
export interface SessionCheckpoint {
  /** The number of the step that was reached. */
  step: number;
  /** The `task_id` of the last task; `null` before the first. */
  last_task: string | null;
  context: JsonValue;
  /** In ISO 8601. */
  timestamp: string;
}

/** A session's log, as written to its file. */
export interface SessionRecord {
  /** `session_001`: the name of the file without its ending. */
  session_id: string;
  /** In ISO 8601. */
  started_at: string;
  /** In ISO 8601. `null` while the session is open, and when its process was killed. */
  ended_at: string | null;
  tasks: SessionTask[];
  /** State files that tasks name and that exist, as paths in the sandbox. */
  state_files: string[];
  checkpoint: SessionCheckpoint | null;
}

/** A run that has ended. */
export interface SessionRun {
  /** The task in the user's words. Absent for given code. */
  task?: string | undefined;
  result: { code: string; value: JsonValue; output: string; error: ErrorInfo | null };
}

/** Options of {@link SessionLog.checkpoint}. */
export interface CheckpointOptions {
  /** The number of the step that was reached. Default: the number of tasks in the session. */
  step?: number | undefined;
  /** Notes for when the work is continued. */
  context?: JsonValue | undefined;
  /** The session, where an agent has several. */
  session?: string | undefined;
}

/** Logs what the runs of a session did, so that another process can continue the work. */
export interface SessionLog {
  readonly specificationVersion: "v1";
  /**
   * Logs a run. Returns at once; the log is written in the background.
   *
   * @param session - The key of the session, as the caller of the run named it.
   */
  record(run: SessionRun, session?: string): void;
  /** Logs a point to resume from; resolves once it is written. */
  checkpoint(options?: CheckpointOptions): Promise<SessionCheckpoint>;
  /** The log of a session so far. `undefined` when nothing was logged. */
  read(session?: string): Promise<SessionRecord | undefined>;
  /** Summary of the earlier tasks of a session, in few tokens. `undefined` when nothing was logged. */
  recap(session?: string): Promise<string | undefined>;
  /** Whether the session continues the work of an earlier process, so that prompts need its recap. */
  readonly isResumed: boolean;
  /** Resolves when everything is written. Ends the sessions: later records begin new ones. */
  close(): Promise<void>;
}

/** Options of an operation on state. */
export interface StateOptions {
  signal?: AbortSignal | undefined;
}

/** Options of {@link StateStore.save}. */
export interface SaveStateOptions extends StateOptions {
  /**
   * The version that the data is based on, as {@link StateStore.read} gave it; empty for a file that did not exist.
   * When the file has another version by now, the changes are merged if they affect different keys; otherwise saving
   * fails. Absent: the file is replaced.
   */
  version?: string | undefined;
}

/** Result of {@link StateStore.read}. */
export interface ReadState {
  exists: boolean;
  data: JsonValue;
  /** Identifies the file's content. Empty where there is no file. */
  version: string;
}

/** Result of {@link StateStore.save}. */
export interface SavedState {
  /** The file's path in the sandbox. */
  file: string;
  version: string;
  /** Whether the data was merged with what others had saved meanwhile. */
  merged?: boolean | undefined;
  /** The path in the sandbox to which a broken file was moved. */
  keptAside?: string | undefined;
}

/** State that outlives a run: files in the workspace, which code in the sandbox reads and writes as files. */
export interface StateStore {
  readonly specificationVersion: "v1";
  /**
   * Reads a state file.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @throws CemError `STATE_PATH_INVALID` for a path outside the workspace, `STATE_UNREADABLE` for a file that can't be
   *   read or parsed, `STATE_TOO_LARGE`.
   */
  read(file?: string, options?: StateOptions): Promise<ReadState>;
  /**
   * Replaces a state file atomically, also across processes.
   *
   * @param file - Path within the workspace. Default: the configured state file.
   * @throws CemError `STATE_PATH_INVALID`, `STATE_TOO_LARGE`, `STATE_BUSY`, `DISK_FULL`, `NOT_WRITABLE`, or
   *   `STATE_CONFLICT` when the file is not of the given version and someone else changed the same keys.
   */
  save(data: JsonValue, file?: string, options?: SaveStateOptions): Promise<SavedState>;
}

/** Keeps a workspace on this machine in sync with a shared copy. */
export interface WorkspaceSync {
  readonly specificationVersion: "v1";
  /**
   * Fetches the changes of others, executes a run, and uploads its changes, even if it fails.
   *
   * @param options - With `logsFollow`, the upload is deferred for a moment when only logs of sessions changed. When
   *   the signal aborts, the wait for the changes of others ends and the run does not begin.
   * @returns the result of the work, and remarks for it: files that were kept twice, or could not be uploaded.
   * @throws CemError `STORE_UNAVAILABLE`, `FILES_UNAVAILABLE` or `FILES_DAMAGED` before the run, which never begins
   *   with stale files; and any error of the work.
   */
  during<Result>(
    work: () => Promise<Result>,
    options?: { logsFollow?: boolean | undefined; signal?: AbortSignal | undefined },
  ): Promise<{ result: Result; remarks: string[] }>;
  /** Fetches what others changed. @returns remarks. @throws CemError as {@link WorkspaceSync.during}. */
  fetch(): Promise<string[]>;
  /** Uploads what was changed here. @returns remarks. @throws CemError as {@link WorkspaceSync.during}. */
  put(): Promise<string[]>;
  /** Uploads pending changes and waits for uploads under way; a few seconds at most when the storage does not answer. */
  close(): Promise<void>;
}
