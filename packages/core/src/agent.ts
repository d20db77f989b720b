import type { Elicit } from "./elicitation.ts";
import type { ErrorInfo } from "./errors.ts";
import type { ToolCallRecord } from "./invocation.ts";
import type { JsonValue } from "./json.ts";
import type { Finding } from "./review.ts";
import type { Isolation, OutputChunk, RunLimits, SandboxStats } from "./sandbox.ts";
import type { GenerationMode, GenerationProgress, GenerationUsage, UnfilledStep } from "./generation.ts";
import type { RankedTool } from "./selection.ts";
import type { CatalogSnapshot } from "./tools.ts";

export type TaskStatus = "success" | "error" | "refused" | "timeout";

/** The stages in the order a task goes through them. */
export const STAGES = ["discover", "select", "generate", "review", "run"] as const;
export type Stage = (typeof STAGES)[number];

export interface SelectedTool {
  server: string;
  tool: string;
  score: number;
  reason: string;
}

/** Tokens (o200k_base) that a model would have read, and did read. */
export interface ContextTokens {
  /** All tool definitions and every tool result, as a model that calls tools directly reads them. */
  direct: number;
  /** The value and the output that came back. */
  used: number;
  /** `direct - used`, never below 0. */
  saved: number;
  /**
   * What a model read and wrote for the code itself: the prompts and answers of the one that wrote it, or the given
   * code. Absent for code by rules, which costs none.
   */
  spent?: number | undefined;
}

/** `before`: types are checked before the code runs, and errors stop it. `off`: they are not checked. */
export type TypeCheckMode = "before" | "off";

/** What a task or given code came to. */
export interface TaskResult {
  status: TaskStatus;
  /** What the code returned, as JSON. `null` when it returned nothing. */
  value: JsonValue;
  /** What the code printed, cut at the limit. */
  output: string;
  /** Bytes of output beyond the limit, which were dropped. */
  outputDroppedBytes: number;
  error: ErrorInfo | null;
  /** The code that ran, or would have. Empty when none was written. */
  code: string;
  origin: "rules" | "llm" | "given";
  selectedTools: SelectedTool[];
  /** How they were found: `by words only: no embedding model is set`. */
  selectionNotes?: readonly string[] | undefined;
  /** How many tools there were to choose from. */
  availableTools: number;
  toolCalls: ToolCallRecord[];
  /** `null` when nothing ran. */
  isolation: Isolation | null;
  /** Milliseconds by stage, and `total`. A stage that did not happen is absent. */
  timings: Partial<Record<Stage | "total", number>>;
  contextTokens: ContextTokens;
  /** What writing the code cost, over all tries. Absent where no model was asked. */
  usage?: GenerationUsage | undefined;
  /** How often code was written for the task. Absent for given code. */
  attempts?: number | undefined;
  /** What a person should know of how the code came about. */
  notes?: readonly string[] | undefined;
}

/** What happens while a task runs, in order. */
export type AgentEvent =
  | { type: "stage-started"; stage: Stage }
  | {
      type: "discovered";
      servers: number;
      tools: number;
      skills: number;
      /** Files that should have been tools and are not usable. */
      problems: number;
      ms: number;
    }
  | {
      type: "selected";
      tools: SelectedTool[];
      available: number;
      ms: number;
      /** How they were found. */
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
  /** A try failed and the code is written anew. `attempt` counts from 2. */
  | { type: "repairing"; attempt: number; reason: string }
  | { type: "generation-refused"; steps: readonly UnfilledStep[]; nearest: SelectedTool[]; ms: number }
  | { type: "reviewed"; allowed: boolean; findings: Finding[]; ms: number }
  | { type: "output"; chunk: OutputChunk }
  | { type: "tool-called"; call: ToolCallRecord }
  | { type: "ran"; toolCalls: number; isolation: Isolation; ms: number }
  | { type: "finished"; result: TaskResult };

export interface ExecuteOptions {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: AgentEvent) => void) | undefined;
  limits?: Partial<RunLimits> | undefined;
  /** Default: the agent's own, for given code and for a model's. Code by rules is checked only when this asks for it. */
  typeCheck?: TypeCheckMode | undefined;
  /** What a model may answer a task with. Default: `auto`. */
  mode?: GenerationMode | undefined;
  /** What a model that writes the code should know beyond the task: earlier results, names of files. */
  context?: string | undefined;
  /** Asks the user of this run what a tool wants to know. Default: the agent's own way to ask. */
  onElicit?: Elicit | undefined;
  /** Whose run this is: runs of two sessions never share a guest. Default: the agent's own session. */
  session?: string | undefined;
}

export interface SearchOptions {
  /** The most tools to return. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Hears how the tools were found: `by words only: no embedding model is set`. */
  onNote?: ((note: string) => void) | undefined;
}

/** The whole way from a task to its result. */
export interface Agent {
  readonly specificationVersion: "v1";
  executeTask(task: string, options?: ExecuteOptions): Promise<TaskResult>;
  executeCode(code: string, options?: ExecuteOptions): Promise<TaskResult>;
  discoverTools(options?: { signal?: AbortSignal | undefined }): Promise<CatalogSnapshot>;
  /** Ranks all tools for a query, best first. */
  searchTools(query: string, options?: SearchOptions): Promise<RankedTool[]>;
  /** What its sandbox holds and did. Absent or `undefined`: nothing has run yet, or nobody counts. */
  sandboxStats?(): SandboxStats | undefined;
  /** Ends what runs and frees everything. Safe to call twice. */
  dispose(): Promise<void>;
}
