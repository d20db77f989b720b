import type { ErrorInfo } from "@cem/core";

/** State that the connections to one server share: its last failure, and when it may be tried again. */
export interface ConnectionHealth {
  readonly backoff: Backoff;
  lastError: ErrorInfo | undefined;
}

export function createConnectionHealth(): ConnectionHealth {
  return { backoff: createBackoff(), lastError: undefined };
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** Exponential backoff between attempts to connect to one server. */
export interface Backoff {
  /** Milliseconds until the next attempt is allowed; 0 when it is allowed now. */
  readonly waitMs: number;
  /** Records a failed attempt, which starts the next delay. */
  failed(): void;
  /** Records a success, which ends the delay and resets its length. */
  succeeded(): void;
}

/** Creates a backoff of 1 s that doubles with each failure up to 60 s, less a random quarter. */
export function createBackoff(): Backoff {
  let failures = 0;
  let retryAt = 0;
  return {
    get waitMs() {
      return Math.max(0, Math.ceil(retryAt - performance.now()));
    },
    failed() {
      const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
      failures += 1;
      retryAt = performance.now() + delayMs * (0.75 + Math.random() / 4);
    },
    succeeded() {
      failures = 0;
      retryAt = 0;
    },
  };
}
