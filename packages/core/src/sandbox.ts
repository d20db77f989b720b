import type { ErrorCode } from "./errors.ts";
import type { ToolCallRecord, ToolInvoker } from "./invocation.ts";
import type { ErrorDetails } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import type { RunLimits, RunMeter } from "./limits.ts";

/**
 * Isolation levels, strongest first. `microvm`: the guest has its own kernel. `namespaces`: kernel namespaces surround
 * the guest. `permissions`: only the permissions of its runtime restrict the guest.
 */
export const ISOLATION_LEVELS = ["microvm", "namespaces", "permissions"] as const;

/** One of {@link ISOLATION_LEVELS}. */
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];

/** The isolation of a guest on this host, as tested, not assumed. */
export interface Isolation {
  level: IsolationLevel;
  /** The name of the sandbox provider: `deno`, `microsandbox`. */
  sandbox: string;
  /** The mechanisms in force, for people: `["bubblewrap", "seccomp", "rlimits", "deno permissions"]`. */
  mechanisms: readonly string[];
}

/** Limits of a workspace. A run that exceeds them is ended; a run that would begin far above them is refused. */
export interface WorkspaceLimits {
  /** Space that its files take, in MiB. */
  workspaceMb: number;
  /** Files and folders in it. */
  workspaceEntries: number;
}

/** The workspace's path in the guest. */
export const GUEST_WORKSPACE = "/workspace";

/** A folder or file of the host that the guest can access. */
export interface Mount {
  /** Absolute path on the host. */
  hostPath: string;
  /** Absolute path in the guest, under `/workspace` or elsewhere. */
  guestPath: string;
  readOnly: boolean;
}

/** IPv4 networks of this machine, its private networks and cloud metadata services. */
export const INTERNAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
] as const;

/** The hosts that the guest may connect to: none, all, or an allowlist such as `["api.example.com", "10.1.2.3:8080"]`. */
export type NetworkPolicy = "none" | "all" | { hosts: readonly string[] };

/** The settings of a sandbox: the workspace and the policy that all of its runs share. */
export interface SandboxSpec {
  /** Absolute path on the host of the folder that is `/workspace` in the guest, readable and writable. */
  workspaceDir: string;
  /** Further folders and files. */
  mounts?: readonly Mount[] | undefined;
  /** Absolute guest paths of files in mounts that the guest can neither read nor import. */
  hidden?: readonly string[] | undefined;
  /** Host tools without a file, by server. Code imports them from `./servers/<server>/index.ts`. Valid identifiers. */
  hostTools?: Readonly<Record<string, readonly string[]>> | undefined;
  /** @defaultValue `none` */
  network?: NetworkPolicy | undefined;
  /** @defaultValue {@link DEFAULT_RUN_LIMITS} */
  limits?: Partial<RunLimits> | undefined;
  /** Limits of the workspace, without mounts. Absent: no limits. */
  quota?: WorkspaceLimits | undefined;
  /** The weakest isolation level to accept. Where the host offers less, the sandbox is not created. */
  minIsolation?: IsolationLevel | undefined;
  /** The session of runs that name none. Absent: such a run shares its guest with no other. */
  defaultSession?: string | undefined;
  /** Quota key of the runs. Where guests are scarce, owners take turns within their share. Absent: sessions do. */
  owner?: string | undefined;
  /** Meters the runs of the owner. Absent: they use what they need. */
  meter?: RunMeter | undefined;
  /**
   * Whether its runs are parts of runs of another sandbox, such as calls of tools. They don't wait for a turn, since
   * the outer run has one, and no guest is prewarmed for them.
   *
   * @defaultValue false
   */
  nested?: boolean | undefined;
}

/** A piece of what a run printed. */
export interface OutputChunk {
  stream: "stdout" | "stderr";
  text: string;
}

/** Code to run, and how. */
export interface RunRequest {
  /** TypeScript. The value of the run is what it exports as default or returns at the top level. */
  code: string;
  /** Id of the run, by which a meter recognizes one that is repeated. Default: none is. */
  run?: string | undefined;
  /** Executes calls of tools on the host. Without one, every such call fails in the guest. */
  invoker?: ToolInvoker | undefined;
  /** Limits for this run, in place of the sandbox's own. */
  limits?: Partial<RunLimits> | undefined;
  /** Source texts that replace the files of modules, by URL: `file:///workspace/servers/crm/remove.ts`. */
  modules?: Readonly<Record<string, string>> | undefined;
  /** Patterns of the tools that the run may call. Absent: no further restriction. */
  allowedTools?: readonly string[] | undefined;
  /**
   * Session of the run. Runs of one session may share a guest, one after another, each in a realm of its own; runs of
   * two sessions never do. Default: the sandbox's `defaultSession`; without one, the run has a guest to itself. Waiting
   * runs take turns by session.
   */
  session?: string | undefined;
  /**
   * Whether the run has a guest of its own, which no other run gets, not even one of its session.
   *
   * @defaultValue false
   */
  singleUse?: boolean | undefined;
  /** Receives output as it is printed. */
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Receives the record of each tool call when the call ends. */
  onToolCall?: ((record: ToolCallRecord) => void) | undefined;
  /** Ends the run, whose outcome is then `killed` with the reason `aborted`. */
  signal?: AbortSignal | undefined;
  /**
   * Whether the program may run, where that is not known yet. Until it resolves, a sandbox that {@link
   * Sandbox.loadsAhead} compiles the program and takes a guest for it; with `false` the run ends as if aborted.
   * Default: it may.
   */
  mayRun?: Promise<boolean> | undefined;
}

/** An error in the guest. Its places refer to the code as given. */
export interface GuestError {
  /** The name of the error: `SyntaxError`, `TypeError`, or that of whatever the code threw. */
  name: string;
  message: string;
  /** The line in the code, from 1. Absent when the error arose elsewhere. */
  line?: number | undefined;
  /** The column in the line, from 1. */
  column?: number | undefined;
  /** The stack frames that lie in the code, one per line. */
  stack?: string | undefined;
}

/** Work that a program had begun and had not awaited when it returned. */
export interface UnawaitedWork {
  /** `operation`: of the runtime, such as reading a file. */
  kind: "call" | "operation" | "timer";
  /** The server of the tool that was called. Absent unless it is a call. */
  server?: string | undefined;
  /** The tool, or the function: `setTimeout`, `Deno.readTextFile`. */
  name: string;
  /** The line in the code where it was begun, from 1. */
  line?: number | undefined;
  /** Whether it was stopped. Otherwise the run waited until it ended. */
  isStopped: boolean;
}

/** Report on a run, however it ended. */
export interface RunReport {
  /** stdout and stderr in the order of printing, cut at the limit. */
  output: string;
  /** Bytes of output beyond the limit, which were dropped. */
  outputDroppedBytes: number;
  toolCalls: ToolCallRecord[];
  /** A sample of each tool result. A caller of the tools would have read them in full. */
  toolResults: ToolResultSample[];
  /** Work that the code began and did not await. Absent where it awaited everything. */
  unawaited?: readonly UnawaitedWork[] | undefined;
  isolation: Isolation;
  /** Duration of the run, in milliseconds. */
  durationMs: number;
}

/** A part of a tool's result from which its tokens can be estimated. */
export interface ToolResultSample {
  /** Length of the whole result as JSON, in characters. */
  characters: number;
  /** The beginning of the result as JSON. */
  sample: string;
}

/** The outcome of a run. */
export type RunOutcome = RunReport &
  (
    | { status: "completed"; value: JsonValue | undefined }
    /** `syntax`: the code was not run. `exception`: the code threw, or its value can't be represented as JSON. */
    | { status: "failed"; kind: "syntax" | "exception"; error: GuestError }
    | { status: "timed-out"; limitMs: number }
    | { status: "out-of-memory"; limitMb: number }
    /** The run was ended from outside, or by a limit other than time and memory. */
    | {
        status: "killed";
        reason: KillReason;
        message: string;
        /** The code of the error. Default: `RUN_KILLED`. */
        code?: ErrorCode | undefined;
        details?: ErrorDetails | undefined;
      }
    /** The run was not started, because its policy can't be enforced here, or its owner's quota is used up. */
    | { status: "refused"; code: ErrorCode; message: string; details?: ErrorDetails | undefined }
  );

/** Why a run was ended. */
export type KillReason =
  | "aborted"
  | "output-flood"
  | "call-limit"
  | "payload-limit"
  | "write-limit"
  | "workspace-quota"
  | "meter"
  | "protocol"
  | "crashed"
  | "disposed";

/** Runs untrusted code. Runs share nothing but the workspace. */
export interface Sandbox {
  readonly isolation: Isolation;
  /** Whether {@link RunRequest.mayRun} is supported. Other sandboxes receive a program only once it may run. */
  readonly loadsAhead?: boolean | undefined;
  /**
   * Runs code.
   *
   * @returns the outcome, also of a run that fails.
   * @throws CemError on misuse only: `SANDBOX_DISPOSED`, `LIMIT_INVALID`.
   */
  run(request: RunRequest): Promise<RunOutcome>;
  /** Ends the guests that are kept for an ended session. Absent when the sandbox keeps none. */
  endSession?(session: string): void;
  /** Ends all runs and guests, and resolves once they are gone. Safe to call twice. */
  dispose(): Promise<void>;
  /** The number of guests now and so far. Absent when the sandbox does not count. */
  stats?(): SandboxStats;
}

/**
 * Counts of a sandbox's guests. A guest is a process or a virtual machine in which code runs. `running` to `taken` are
 * current numbers, the others totals so far.
 */
export interface SandboxStats {
  /** Runs that have a guest. */
  running: number;
  /** Runs that wait for a guest. */
  waiting: number;
  /** Guests of the pool that are ready or starting and have had no run. */
  standby: number;
  /** Idle guests that are kept for another run of their session. */
  kept: number;
  /** Guests that a run has or had and that are still alive. */
  taken: number;
  /** Guests started. */
  started: number;
  /** Runs that got a standby guest. */
  hits: number;
  /** Runs that got a kept guest of their session. */
  reused: number;
  /** Runs for which a guest had to be started. */
  misses: number;
  /** Guests that failed to start, or ended or stopped answering while idle. */
  lost: number;
  /** Guests ended because a run tainted them, or because they had reached their maximum number of runs. */
  discarded: number;
}

/** Whether a provider can create sandboxes on this host. */
export type SandboxProbe =
  | { available: true; isolation: Isolation; version: string; notes: readonly string[] }
  | { available: false; reason: string; hint: string };

/** Creates sandboxes of one kind. */
export interface SandboxProvider {
  readonly specificationVersion: "v1";
  readonly name: string;
  /** Tests which isolation this host actually offers. The answer is cached in the process. */
  probe(options?: { signal?: AbortSignal | undefined }): Promise<SandboxProbe>;
  /**
   * Creates a sandbox.
   *
   * @throws CemError `SANDBOX_UNAVAILABLE`, `ISOLATION_TOO_WEAK` or `SANDBOX_SPEC_INVALID`.
   */
  create(spec: SandboxSpec, options?: { signal?: AbortSignal | undefined }): Promise<Sandbox>;
}
