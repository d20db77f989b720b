import type { ToolDefinition } from "./tools.ts";

/** A tool with its rank for a task or a query. */
export interface RankedTool {
  tool: ToolDefinition;
  /** From 0 to 1. Comparable within one answer only. */
  score: number;
  /** Why the tool ranks here, for people: `matches "weather", "san francisco"`. */
  reason: string;
  /** Whether the tool matches by a word or two only, as the best match does: perhaps nothing fits. */
  isDoubtful?: true | undefined;
}

/** A task or a query, and the tools to choose from. */
export interface SelectRequest {
  task: string;
  tools: readonly ToolDefinition[];
  /**
   * The maximum number of tools to return.
   *
   * @defaultValue the selector's own
   */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Receives from `search` what `select` returns as `notes`. */
  onNote?: ((note: string) => void) | undefined;
}

/** The tools that a selector chose. */
export interface Selection {
  /** The tools that the task needs, best first. Empty when no tool fits. */
  selected: RankedTool[];
  /** The best of the other tools, for suggestions. */
  nearest: RankedTool[];
  /** How the tools were chosen, for people: `by words only: no embedding model is set`. */
  notes?: string[] | undefined;
}

/** Picks the few tools that a task needs. */
export interface ToolSelector {
  readonly specificationVersion: "v1";
  select(request: SelectRequest): Promise<Selection>;
  /** Ranks all tools for a query, best first, without a threshold. */
  search(request: SelectRequest): Promise<RankedTool[]>;
  /** Indexes tools ahead of the first request for them. */
  prepare?(tools: readonly ToolDefinition[]): Promise<void>;
}
