import type { ExecuteOptions } from "@cem/core";

/** The options of a run that a tool passes on: its session, its limits, whom to ask. */
export type RunOptions = Pick<
  ExecuteOptions,
  "allowedTools" | "limits" | "onApprove" | "onElicit" | "onEvent" | "session" | "singleUse" | "typeCheck"
>;

/** Options of every tool that runs code. */
export interface ExecuteCodeOptions {
  /**
   * What the conversation is about, in words. The signatures of the tools closest to it come first.
   *
   * @defaultValue some tools of each server
   */
  task?: string | undefined;
  /**
   * The most tokens that the signatures in the description may have. 0: the description has none.
   *
   * @defaultValue 2,000
   */
  signatureTokens?: number | undefined;
  /** Options of each run. */
  run?: RunOptions | undefined;
  /**
   * Whether the model is shown images and files that a result refers to.
   *
   * @defaultValue true
   */
  attachments?: boolean | undefined;
}

/**
 * Which code a person sees, by the framework's own means, before it runs. `destructive`: code that names a tool annotated as
 * destructive. `true`: all code.
 */
export type NeedsApproval = boolean | "destructive" | ((code: string) => boolean | Promise<boolean>);

/** Options of tools that run code, for frameworks that ask for approvals. */
export interface ApprovedCodeOptions extends ExecuteCodeOptions {
  /**
   * Which code needs a yes. What was approved may call each tool that it names; a call of another one that needs a yes goes to
   * `run.onApprove`, else it is refused.
   *
   * @defaultValue false
   */
  needsApproval?: NeedsApproval | undefined;
}

/** Options of every tool that searches for tools. */
export interface SearchToolsOptions {
  /**
   * The most tools that are found.
   *
   * @defaultValue 10
   */
  limit?: number | undefined;
}

/** The default of {@link ExecuteCodeOptions.signatureTokens}. */
export const DEFAULT_SIGNATURE_TOKENS = 2_000;
/** The default of {@link SearchToolsOptions.limit}. */
export const DEFAULT_SEARCH_LIMIT = 10;
