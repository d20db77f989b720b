import type { ToolDefinition } from "./tools.ts";

export interface RankedTool {
  tool: ToolDefinition;
  /** 0 to 1, comparable within one answer only. */
  score: number;
  /** Why it was chosen, in a few words for people: `matches "weather", "san francisco"`. */
  reason: string;
}

export interface SelectRequest {
  task: string;
  tools: readonly ToolDefinition[];
  /** The most tools to return. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Hears from `search` what `select` says in its `notes`. */
  onNote?: ((note: string) => void) | undefined;
}

export interface Selection {
  /** What the task needs, best first. Empty: no tool fits. */
  selected: RankedTool[];
  /** The best of those left out, for "did you mean". */
  nearest: RankedTool[];
  /** How it was chosen, for people: `by words only: no embedding model is set`. */
  notes?: string[] | undefined;
}

/** Picks the few tools a task needs. */
export interface ToolSelector {
  readonly specificationVersion: "v1";
  select(request: SelectRequest): Promise<Selection>;
  /** Ranks all tools for a query, without a threshold, best first. */
  search(request: SelectRequest): Promise<RankedTool[]>;
}
