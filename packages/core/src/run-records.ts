import type { TaskResult } from "./agent.ts";
import type { RecordedStatus } from "./statuses.ts";
import type { ErrorInfo } from "./errors.ts";
import type { ToolCallRecord } from "./invocation.ts";
import type { JsonValue } from "./json.ts";

/**
 * Data in a record: itself, or its size when it is too large or must not be kept. Within one record, equal digests mean
 * equal data; digests of different records can't be compared.
 */
export type RecordedData = { value: JsonValue } | { bytes: number; digest: string };

/** A call of a tool in a record. Arguments and result are absent for tools whose code runs in the sandbox. */
export interface RecordedCall extends Omit<ToolCallRecord, "place" | "args" | "result" | "error"> {
  args?: RecordedData | undefined;
  /** The result as the invoker returned it: `{ ok: true, value }` or `{ ok: false, error }`. */
  result?: RecordedData | undefined;
}

/** Summary of a run, as shown in lists. */
export interface RunRecordSummary {
  id: string;
  kind: "task" | "code";
  /** The task, or the first line of the code that is neither an import nor a comment. */
  title: string;
  status: RecordedStatus;
  /** In ISO 8601. */
  startedAt: string;
  /** Duration in milliseconds. */
  ms: number;
  /** The owner of the workspace that the run had, where workspaces have owners. */
  workspaceOwner?: string | undefined;
  /** Identifies the client that may see the run, where several clients share a server. */
  owner?: string | undefined;
  calls: number;
  tokensSaved: number;
  isolation?: string | undefined;
}

/** Record of a run that has ended. Personal data and secrets are replaced by tokens. */
export interface RunRecord extends Omit<RunRecordSummary, "calls" | "title" | "tokensSaved" | "isolation"> {
  /** The task in the user's words, or the given code. */
  input: string;
  /** Whether the input is whole. Otherwise a task can't be started again. */
  inputIsWhole: boolean;
  code: string;
  origin: TaskResult["origin"];
  /** Whether the code is whole. Otherwise it can't be run again. */
  codeIsWhole: boolean;
  error: { code: string; message: string } | null;
  value?: RecordedData | undefined;
  /** The beginning of what the code printed. */
  output: string;
  outputIsCut: boolean;
  calls: RecordedCall[];
  /** Calls beyond those that are kept. */
  callsLeftOut: number;
  isolation: TaskResult["isolation"];
  timings: TaskResult["timings"];
  contextTokens: TaskResult["contextTokens"];
  notes: string[];
}

/** Selects the records to list. */
export interface RunRecordFilter {
  status?: RecordedStatus | undefined;
  /** Runs that began then or later. */
  since?: Date | undefined;
  /** Runs whose task, code, tools or error contain this text, case-insensitively. */
  text?: string | undefined;
  owner?: string | undefined;
  /** The maximum number of records. @defaultValue 50 */
  limit?: number | undefined;
}

/** Records of runs, which outlive the process. */
export interface RunRecords {
  readonly specificationVersion: "v1";
  /**
   * Keeps a record. Returns at once; the record is written in the background. Write errors are reported, not thrown.
   *
   * @param make - Makes the record, in the background too.
   */
  add(make: () => Promise<RunRecord>): void;
  /** Lists records, most recent first. */
  list(filter?: RunRecordFilter): Promise<RunRecordSummary[]>;
  /**
   * Reads a record.
   *
   * @param id - The id of the run, or `last`.
   * @throws CemError `RUN_NOT_FOUND`, also for a run of another owner than the given one.
   */
  read(id: string, owner?: string): Promise<RunRecord>;
  /** Resolves when all added records are written. */
  flush(): Promise<void>;
  /** Writes all added records and frees resources. */
  close(): Promise<void>;
}

/** A run that has ended, for its record. */
export interface EndedRun {
  id: string;
  kind: "task" | "code";
  /** The task or the code, as it was given. */
  input: string;
  startedAt: Date;
  ms: number;
  owner?: string | undefined;
  session?: string | undefined;
  /** Absent where the agent itself could not be used. */
  result?: TaskResult | undefined;
  error?: ErrorInfo | undefined;
}

/** Records an ended run. Must return at once and not throw. */
export type RecordRun = (run: EndedRun) => void;
