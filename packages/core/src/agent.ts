import type { Approve, Elicit, Sample } from "./questions.ts";
import type { ErrorInfo } from "./errors.ts";
import type { AnnounceCall, ToolCallRecord, ToolProgress } from "./invocation.ts";
import type { JsonValue } from "./json.ts";
import type { ResultStore } from "./results.ts";
import type { Finding } from "./review.ts";
import type { SaveSkillOptions, Skill, SkillDraft } from "./skills.ts";
import type { RunLimits } from "./limits.ts";
import type { Isolation, OutputChunk, SandboxStats } from "./sandbox.ts";
import type { GenerationMode, GenerationProgress, GenerationUsage, UnfilledStep } from "./generation.ts";
import type { TaskStatus } from "./statuses.ts";
import type { CatalogSnapshot, RankedTool, ToolCatalog } from "./tools.ts";
import type { CheckpointOptions, SessionCheckpoint } from "./workspace.ts";

/** The stages of a task, in order. */
export type Stage = "discover" | "select" | "generate" | "review" | "run";

/** A tool that was selected for a task. */
export interface SelectedTool {
  server: string;
  tool: string;
  /** From 0 to 1. Comparable within one task only. */
  score: number;
  /** Why the tool was selected, for people. */
  reason: string;
}

/**
 * Tokens that a model would have read by calling tools directly, and tokens that it did read. Estimates: of a long text
 * the beginning is counted and scaled up.
 */
export interface ContextTokens {
  /** All tool definitions and every tool result. */
  direct: number;
  /** The value, the output and the error message of the result. */
  used: number;
  /** `direct - used`, at least 0. */
  saved: number;
  /** Tokens of the model's prompts and answers, or of the given code. Absent for code by rules, which costs none. */
  spent?: number | undefined;
}

/**
 * `before`: types are checked before the code runs, and type errors that would make it fail refuse it. `strict`: any type error
 * does. `off`: types are not checked.
 */
export type TypeCheckMode = "before" | "strict" | "off";

/** The result of a task or of given code. */
export interface TaskResult {
  status: TaskStatus;
  /** The value that the code returned. `null` when it returned none. */
  value: JsonValue;
  /** Output of the code on stdout and stderr, cut at the limit. */
  output: string;
  /** Bytes of output beyond the limit, which were dropped. */
  outputDroppedBytes: number;
  /** `null` on success. */
  error: ErrorInfo | null;
  /** The code that was run or refused. Empty when none was written. */
  code: string;
  /** Author of the code: rules, a model (LLM), or the caller. */
  origin: "rules" | "llm" | "given";
  selectedTools: SelectedTool[];
  /** How the tools were selected: `by words only: no embedding model is set`. */
  selectionNotes?: readonly string[] | undefined;
  /** Number of tools in the catalog. */
  availableTools: number;
  /** The tool calls of all attempts, in order. */
  toolCalls: ToolCallRecord[];
  /** `null` when no code was run. */
  isolation: Isolation | null;
  /** Duration of each stage, and in total, in milliseconds. Stages that did not take place are absent. */
  timings: Partial<Record<Stage | "total", number>>;
  contextTokens: ContextTokens;
  /** The cost of writing the code, for all attempts. Absent when no model was asked. */
  usage?: GenerationUsage | undefined;
  /** How often code was written. Absent for given code. */
  attempts?: number | undefined;
  /** Remarks on how the code was written, on work it did not await, and on code that neither returned nor printed anything. */
  notes?: readonly string[] | undefined;
  /** Problems outside the run, for instance a plugin that failed. */
  warnings?: readonly string[] | undefined;
}

/** An event while a task or given code is executed. `ms` is the duration of a stage in milliseconds. */
export type AgentEvent =
  /** No worker has taken the run from the queue yet. `workers` are connected to it. */
  | { type: "waiting"; workers: number }
  /** The client has as many runs under way as it may. `asking` of them do so only until its user answers. */
  | { type: "waiting"; asking: number }
  | { type: "stage-started"; stage: Stage }
  | {
      type: "discovered";
      servers: number;
      tools: number;
      skills: number;
      /** Number of tool files that can't be used. */
      problems: number;
      ms: number;
    }
  | {
      type: "selected";
      tools: SelectedTool[];
      /** Number of tools in the catalog. */
      available: number;
      ms: number;
      /** How the tools were selected. */
      notes?: readonly string[] | undefined;
    }
  | ({ type: "generating" } & GenerationProgress)
  | {
      type: "generated";
      code: string;
      origin: "rules" | "llm";
      ms: number;
      notes?: readonly string[] | undefined;
    }
  /** An attempt failed and the code is written again. `attempt` counts from 2. */
  | { type: "repairing"; attempt: number; reason: string }
  | { type: "generation-refused"; steps: readonly UnfilledStep[]; nearest: SelectedTool[]; ms: number }
  | { type: "reviewed"; allowed: boolean; findings: Finding[]; ms: number }
  | { type: "output"; chunk: OutputChunk }
  /** A tool on the host reported what it has done so far. */
  | { type: "tool-progressed"; server: string; tool: string; progress: ToolProgress }
  | { type: "tool-called"; call: ToolCallRecord }
  | { type: "ran"; toolCalls: number; isolation: Isolation; ms: number }
  | { type: "finished"; result: TaskResult };

/** Options of one request to run a task or code. */
export interface ExecuteOptions {
  /** Cancels the request. Its result then has the error code `ABORTED`. */
  signal?: AbortSignal | undefined;
  /** Receives the events of the request. Errors that it throws are reported as process warnings and otherwise ignored. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Limits of the run, in place of the agent's own. */
  limits?: Partial<RunLimits> | undefined;
  /**
   * Whether the types of the code are checked.
   *
   * @defaultValue the agent's own setting for given code and for a model's code; `off` for code written by rules
   */
  typeCheck?: TypeCheckMode | undefined;
  /**
   * The form of a model's answer.
   *
   * @defaultValue `auto`
   */
  mode?: GenerationMode | undefined;
  /** Information for a model that writes the code, beyond the task, such as earlier results or names of files. */
  context?: string | undefined;
  /**
   * Asks the user of this request a tool's question.
   *
   * @defaultValue the agent's own way to ask
   */
  onElicit?: Elicit | undefined;
  /**
   * Asks a person to approve a call.
   *
   * @defaultValue the agent's own way to ask
   */
  onApprove?: Approve | undefined;
  /** Called right before each call of a tool on the host, so that the call is known even if this process ends. */
  onCall?: AnnounceCall | undefined;
  /**
   * Patterns of the tools that the run may call, such as `weather.*`.
   *
   * @defaultValue those that the agent allows
   */
  allowedTools?: readonly string[] | undefined;
  /**
   * Passes sampling requests of the servers behind to the client of this request.
   *
   * @defaultValue sampling is refused
   */
  onSample?: Sample | undefined;
  /**
   * The session that the run belongs to, usually one per user. Runs of one session may share a guest, one after
   * another; runs of two sessions never do.
   *
   * @defaultValue the session of the agent's sandbox
   */
  session?: string | undefined;
  /**
   * Whether the run has a guest of its own, which no other run gets, not even one of its session.
   *
   * @defaultValue false
   */
  singleUse?: boolean | undefined;
  /**
   * The id that logs and records name the run by.
   *
   * @defaultValue a random one
   */
  runId?: string | undefined;
  /**
   * Whether the run is added to the records and to its session's log, where these exist.
   *
   * @defaultValue true
   */
  record?: boolean | undefined;
  /** Owner of the run's record. Where several clients share a server, only the owner may see it. */
  owner?: string | undefined;
  /** Lets another process continue the run. Ignored where this process executes the run. */
  rejoin?: Rejoin | undefined;
}

/** Lets other processes than the one that began a run reach it: {@link Agent.rejoinRun}. */
export interface Rejoin {
  /** Secret key: its holder may follow the run, answer its questions and cancel it. */
  key: string;
  /** Detaches from the run when it aborts: the run ends with `ABORTED` here, and continues where it is executed. */
  leave?: AbortSignal | undefined;
}

/** Options of a run that another process has begun. */
export type RejoinOptions = Pick<
  ExecuteOptions,
  "signal" | "onEvent" | "onElicit" | "onApprove" | "onSample"
> & { leave?: AbortSignal | undefined };

/** Options of a search for tools. */
export interface SearchOptions {
  /**
   * The maximum number of tools to return.
   *
   * @defaultValue the selector's own
   */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Receives remarks on how the tools were found: `by words only: no embedding model is set`. */
  onNote?: ((note: string) => void) | undefined;
}

/** Executes tasks: finds tools, writes code or accepts given code, reviews it and runs it. */
export interface Agent {
  readonly specificationVersion: "v1";
  /**
   * Writes code for a task and runs it.
   *
   * @returns the result, also of a task that fails.
   * @throws CemError `TASK_EMPTY`, `OPTION_INVALID`, `AGENT_DISPOSED`, or the error of a stage that can't be used.
   */
  executeTask(task: string, options?: ExecuteOptions): Promise<TaskResult>;
  /**
   * Reviews given code and runs it.
   *
   * @param code - TypeScript. Its value is what it exports as default or returns at the top level.
   * @returns the result, also of code that fails.
   * @throws CemError `CODE_EMPTY`, `OPTION_INVALID`, `AGENT_DISPOSED`, or the error of a stage that can't be used.
   */
  executeCode(code: string, options?: ExecuteOptions): Promise<TaskResult>;
  /**
   * Continues a run that another process began with this `rejoin.key`. Its events are replayed from the beginning;
   * unanswered questions are asked again. Absent where this process executes the runs.
   *
   * @returns `undefined` when there is no such run. Results are kept for an hour.
   */
  rejoinRun?(key: string, options?: RejoinOptions): Promise<TaskResult | undefined>;
  /**
   * Lists the catalog.
   *
   * @param options - `servers`: the servers that the caller needs; it waits for no others. Default: all.
   */
  discoverTools(options?: Parameters<ToolCatalog["list"]>[0]): Promise<CatalogSnapshot>;
  /**
   * Ranks the tools that are relevant to a query, best first; there may be none.
   *
   * @throws CemError `QUERY_EMPTY` or `AGENT_DISPOSED`.
   */
  searchTools(query: string, options?: SearchOptions): Promise<RankedTool[]>;
  /**
   * Reviews a skill, checks its types, runs its test in the sandbox, and saves it. From then on code can import it, and
   * it is found like a tool. A skill saved by a model is a proposal until a person promotes it.
   *
   * @throws CemError `SKILL_INVALID`, `SKILL_REFUSED` with what was found, or `SKILLS_DISABLED`.
   */
  saveSkill(draft: SkillDraft, options?: SaveSkillOptions): Promise<Skill>;
  /**
   * Writes a point to resume from to the session's log. Another process can resume from it too.
   *
   * @throws CemError `SESSIONS_DISABLED`, `AGENT_DISPOSED`, or the reason why the log can't be written.
   */
  checkpoint(options?: CheckpointOptions): Promise<SessionCheckpoint>;
  /**
   * Prepares what the first request would have to wait for: the configuration, the catalog and its index, the sandbox
   * with a guest, the type checker. Does not connect to MCP servers. Resolves when all is ready; parts that are ready
   * already cost nothing. A request that arrives meanwhile waits only for the parts it needs.
   *
   * @param options - When `signal` aborts, the wait ends; work that has begun continues.
   * @throws CemError `AGENT_DISPOSED`, or the error of a broken set-up, as a first request would.
   */
  warm(options?: { signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Opens the store of the images, files and large values whose handles results contain.
   *
   * @returns `undefined` where nothing is kept.
   * @throws CemError `AGENT_DISPOSED`, or the error of a broken set-up.
   */
  openResults?(): Promise<ResultStore | undefined>;
  /** The counts of the sandbox's guests. `undefined` before the first run, or when the sandbox does not count. */
  sandboxStats?(): SandboxStats | undefined;
  /** Cancels the requests under way, waits for them and frees everything. Safe to call twice. */
  dispose(): Promise<void>;
}
