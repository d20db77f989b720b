const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** When a server that failed may be tried again: at once after it worked, later and later while it does not. */
export interface Backoff {
  /** Milliseconds until the next try; 0 when it may be made now. */
  readonly waitMs: number;
  failed(): void;
  succeeded(): void;
}

/** Delays of 1 s, doubling up to a minute, spread by a quarter so that many clients don't come at once. */
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
