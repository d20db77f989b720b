import type { ErrorInfo, ToolFlag } from "@cem/core";
import type { Difference, SkippedTool, ToolWarning } from "@cem/tool-files";

export interface GenerateOptions {
  /** The servers to generate files for. Default: every one that is enabled. */
  servers?: readonly string[] | undefined;
  /**
   * Takes changed definitions over too. Without it they are reported, and their tools stay as they were accepted.
   *
   * @defaultValue false
   */
  accept?: boolean | undefined;
  /**
   * Allows results to be kept, and writes what is inferred from them into the return types.
   *
   * @defaultValue false
   */
  learn?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The outcome of generating one server's files. */
export interface GeneratedServer {
  server: string;
  /** `held`: changed tools wait to be accepted. `failed`: nothing was written. */
  state: "generated" | "held" | "failed";
  error?: ErrorInfo | undefined;
  /** The server's folder, absolute. */
  directory: string;
  /** How many tools have a file now. */
  tools: number;
  written: string[];
  removed: string[];
  unchanged: number;
  /** Tools without a file, and why. */
  skipped: SkippedTool[];
  /** Files that were not generated and stand where a generated one belongs. */
  conflicts: string[];
  warnings: ToolWarning[];
  /** Tools whose definition is not the one that was accepted; with `accept` they were taken over. */
  changed: { tool: string; differences: Difference[] }[];
  /** Tools whose definitions seem to contain instructions for a model. */
  flagged: { tool: string; flags: readonly ToolFlag[] }[];
  /** Tools whose return type was inferred from results. Absent where results are not observed. */
  learned?: string[] | undefined;
}
