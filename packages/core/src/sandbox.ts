import type { ToolCallRecord, ToolInvoker } from "./invocation.ts";
import type { JsonValue } from "./json.ts";

/** Strongest first: its own kernel; kernel namespaces around the guest; the runtime's own permissions only. */
export const ISOLATION_LEVELS = ["microvm", "namespaces", "permissions"] as const;
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];

/** What holds the guest on this host, as tried, not as assumed. */
export interface Isolation {
  level: IsolationLevel;
  /** The provider's name: `deno`, `microsandbox`. */
  sandbox: string;
  /** What is in force, for people: `["bubblewrap", "seccomp", "rlimits", "deno permissions"]`. */
  mechanisms: readonly string[];
}

/** Bounds on one run. Reaching one ends the run, or cuts its output, and the outcome says so. */
export interface RunLimits {
  /** Wall clock from the start of the code to its end, in milliseconds. */
  timeoutMs: number;
  /** Memory of the whole guest, in MiB. */
  memoryMb: number;
  /** Output kept, in bytes of UTF-8. What comes beyond is counted and dropped. */
  outputBytes: number;
  /** Tool calls in total. */
  calls: number;
  /** Tool calls under way at once; more wait in the guest. */
  callsInFlight: number;
  /** One message over the bridge (arguments, a result, the value), in bytes. */
  payloadBytes: number;
  /** What the guest may write to its workspace in one run, in MiB. */
  writeMb: number;
}

export interface Mount {
  /** Absolute path on the host. */
  hostPath: string;
  /** Absolute path in the guest, under `/workspace` or elsewhere. */
  guestPath: string;
  readOnly: boolean;
}

/** `none`, or the hosts the guest may reach: `["api.example.com", "10.1.2.3:8080"]`. `all` has to be said. */
export type NetworkPolicy = "none" | "all" | { hosts: readonly string[] };

/** One workspace and one policy: what every run of a sandbox shares. */
export interface SandboxSpec {
  /** Absolute path on the host of what the guest sees as `/workspace`, read-write. */
  workspaceDir: string;
  mounts?: readonly Mount[] | undefined;
  /** Absolute guest paths of files in mounts that the guest must neither read nor import. */
  hidden?: readonly string[] | undefined;
  /**
   * Tools behind the invoker that no file stands for: code imports them all the same, from
   * `./servers/<server>/index.ts`. By server, the names of its tools, which are valid identifiers.
   */
  hostTools?: Readonly<Record<string, readonly string[]>> | undefined;
  network?: NetworkPolicy | undefined;
  limits?: Partial<RunLimits> | undefined;
  /** Refuse to start below this level. */
  minIsolation?: IsolationLevel | undefined;
  /** The session of runs that name none. Absent: such a run shares its guest with no other. */
  defaultSession?: string | undefined;
}

export interface OutputChunk {
  stream: "stdout" | "stderr";
  text: string;
}

export interface RunRequest {
  /** TypeScript. Ends in `export default`, or returns at the top level, what the run resolves to. */
  code: string;
  /** Where calls to host tools go. Absent: there are none, and each such call fails in the guest. */
  invoker?: ToolInvoker | undefined;
  /** Overrides the sandbox's own limits for this run. */
  limits?: Partial<RunLimits> | undefined;
  /**
   * Whose run this is. Runs of one session may share a guest, one after another, where the sandbox is set to; runs of
   * two sessions never do. Default: the sandbox's `defaultSession`; without one, the run has a guest to itself. Waiting
   * runs take turns by session.
   */
  session?: string | undefined;
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  onToolCall?: ((record: ToolCallRecord) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** An error inside the guest, with places in the user's own code. */
export interface GuestError {
  /** `SyntaxError`, `TypeError`, or whatever the code threw. */
  name: string;
  message: string;
  /** 1-based line and column in the code as given. Absent when the error arose elsewhere. */
  line?: number | undefined;
  column?: number | undefined;
  /** The user's frames only, one per line. */
  stack?: string | undefined;
}

/** What every outcome tells. */
export interface RunReport {
  /** stdout and stderr in order, cut at the limit. */
  output: string;
  /** Bytes of output that were dropped. */
  outputDroppedBytes: number;
  toolCalls: ToolCallRecord[];
  /** JSON text of tool results, in characters, that stayed in the guest: what a direct caller would have read. */
  toolResults: ToolResultSample[];
  isolation: Isolation;
  /** From the run's start to its outcome, in milliseconds. */
  durationMs: number;
}

/** Enough of a tool's result to count its tokens. */
export interface ToolResultSample {
  /** The whole length of the result as JSON, in characters. */
  characters: number;
  /** Its beginning. */
  sample: string;
}

/** How a run ended. */
export type RunOutcome = RunReport &
  (
    | { status: "completed"; value: JsonValue | undefined }
    /** `syntax`: nothing ran. `exception`: the code threw, or its value can't be JSON. */
    | { status: "failed"; kind: "syntax" | "exception"; error: GuestError }
    | { status: "timed-out"; limitMs: number }
    | { status: "out-of-memory"; limitMb: number }
    /** Ended from outside or by a limit that can't be cut. */
    | { status: "killed"; reason: KillReason; message: string }
    /** Never started: the policy can't be held here. */
    | { status: "refused"; code: string; message: string }
  );

export type KillReason =
  | "aborted"
  | "output-flood"
  | "call-limit"
  | "payload-limit"
  | "write-limit"
  | "protocol"
  | "crashed"
  | "disposed";

/** A place where code runs. Runs don't see each other except through the workspace. */
export interface Sandbox {
  readonly isolation: Isolation;
  /** Runs code to its outcome. Rejects only on misuse; a run that fails is an outcome. */
  run(request: RunRequest): Promise<RunOutcome>;
  /** Ends every run and standby guest, and resolves when none is left. */
  dispose(): Promise<void>;
  /** Absent: it keeps no count. */
  stats?(): SandboxStats;
}

/** How many guests a sandbox has, and what became of those it had. */
export interface SandboxStats {
  /** Runs that have a guest. */
  running: number;
  /** Runs that wait for one. */
  queued: number;
  /** Guests that wait, booted or booting. */
  standby: number;
  /** Guests kept for the session that they had their last run of. */
  kept: number;
  /** Guests that were taken and still live. */
  taken: number;
  started: number;
  /** Takes that found a guest waiting. */
  hits: number;
  /** Takes that got a guest of the same session. */
  reused: number;
  /** Takes that had to start one. */
  misses: number;
  /** Guests that ended while they waited, failed to start, or answered wrong or late. */
  lost: number;
  /** Guests thrown away after a run, for what it left or because they had enough of them. */
  discarded: number;
}

export type SandboxProbe =
  | { available: true; isolation: Isolation; version: string; notes: readonly string[] }
  | { available: false; reason: string; hint: string };

/** Makes sandboxes of one kind. */
export interface SandboxProvider {
  readonly specificationVersion: "v1";
  readonly name: string;
  /** Tries what isolation this host really gives. Remembered within the process. */
  probe(options?: { signal?: AbortSignal | undefined }): Promise<SandboxProbe>;
  /** @throws CemError `SANDBOX_UNAVAILABLE` or `ISOLATION_TOO_WEAK`. */
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<Sandbox>;
}
