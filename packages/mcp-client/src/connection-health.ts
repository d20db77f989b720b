import type { ErrorInfo } from "@cem/core";
import { createBackoff } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";

/** What the connections to one server share: when it failed last, and when it may be tried again. */
export interface ConnectionHealth {
  readonly backoff: Backoff;
  lastError: ErrorInfo | undefined;
}

export function createConnectionHealth(): ConnectionHealth {
  return { backoff: createBackoff(), lastError: undefined };
}
