import type { ErrorInfo } from "@cem/core";

/** One piece of work for a thread. */
export interface ThreadRequest {
  /** The URL of the module. */
  module: string;
  /** The exported function. */
  name: string;
  args: readonly unknown[];
}

/** How the work ended. */
export type ThreadResponse = { result: unknown } | { error: ErrorInfo };
