import type { ErrorCode, ErrorDetails } from "./errors.ts";

export const MS_PER_SECOND = 1_000;
export const BYTES_PER_MB = 1_024 ** 2;

/** Limits of one run. A run that exceeds one is ended, or its output is cut, and its outcome says so. */
export interface RunLimits {
  /** Duration of the run in milliseconds, without the time in which a person is asked something. */
  timeoutMs: number;
  /** Memory of the guest, in MiB. */
  memoryMb: number;
  /** Output that is kept, in bytes of UTF-8. Output beyond it is counted and dropped. */
  outputBytes: number;
  /** Tool calls in total. */
  calls: number;
  /** Concurrent tool calls. Further calls wait in the guest. */
  callsInFlight: number;
  /** Size of the arguments of a call, of its result, and of the run's value, in bytes each. */
  payloadBytes: number;
  /** Data that the guest may write to its workspace, in MiB. */
  writeMb: number;
}

/** The limits of a run unless the sandbox or the run sets others. */
export const DEFAULT_RUN_LIMITS: Readonly<RunLimits> = Object.freeze({
  timeoutMs: 300_000,
  memoryMb: 512,
  outputBytes: 256 * 1024,
  calls: 1_000,
  callsInFlight: 32,
  payloadBytes: 8 * 1024 * 1024,
  writeMb: 1_024,
});

/** The reason why a run may not begin or continue. */
export interface RunStop {
  code: ErrorCode;
  message: string;
  details?: ErrorDetails | undefined;
}

/** A run whose code has begun. */
export interface MeteredRun {
  /** How long the code has run, in milliseconds, without the time in which a person is asked something. */
  spentMs(): number;
  /** Ends the run. */
  stop(why: RunStop): void;
}

/** The permission of one run to execute. */
export interface RunTicket {
  /** Watches over the run's code from its beginning. */
  watch(run: MeteredRun): void;
  /** Accounts for what the run has used. Called once, whether the code began or not. */
  settle(): Promise<void>;
}

/** Meters the runs of one owner: decides which may begin, and ends those that have used up their quota. */
export interface RunMeter {
  /**
   * The reason why a run may not begin now; with one, no code is written. Does not count against the quota.
   *
   * @param run - Its id.
   */
  check(run?: string): Promise<RunStop | undefined>;
  /**
   * Called when a run's turn has come. A run whose attempt was interrupted by the end of the process, or by a signal whose
   * reason has `details.isInterrupted`, may be repeated anywhere with the same id: it counts once.
   */
  admit(request?: {
    run?: string | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<RunTicket | RunStop>;
}
