import type { JsonValue } from "./json.ts";
import type { ErrorInfo } from "./errors.ts";

/** One run in a session's log, as it stands in the file. */
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

/** A point to go on from. */
export interface SessionCheckpoint {
  /** The number of the step that was reached. */
  step: number;
  /** The `task_id` of the last task; `null` before the first. */
  last_task: string | null;
  context: JsonValue;
  /** In ISO 8601. */
  timestamp: string;
}

/** A session's log, as it stands in its file. */
export interface SessionRecord {
  /** `session_001`: the name of the file without its ending. */
  session_id: string;
  /** In ISO 8601. */
  started_at: string;
  /** In ISO 8601. `null` while the session goes on, and when its process was killed. */
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

/** Keeps what the runs of a session did, so that work can go on after the process has ended. */
export interface SessionLog {
  readonly specificationVersion: "v1";
  /**
   * Notes a run. Returns at once; the log is written in the background.
   *
   * @param session - The key of the session, as the caller of the run named it.
   */
  record(run: SessionRun, session?: string): void;
  /** Notes a point to go on from; resolves once it is written. */
  checkpoint(options?: CheckpointOptions): Promise<SessionCheckpoint>;
  /** The log of a session so far. `undefined` when nothing was noted. */
  read(session?: string): Promise<SessionRecord | undefined>;
  /** Summary of the earlier tasks of a session, in few tokens. `undefined` when nothing was noted. */
  recap(session?: string): Promise<string | undefined>;
  /** Whether the session continues the work of an earlier process, so that prompts need its recap. */
  readonly isResumed: boolean;
  /** Resolves when everything is written. The sessions end. */
  close(): Promise<void>;
}
