import type { ErrorCode, ErrorDetails } from "./errors.ts";

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

/** The limits of a run for which neither the sandbox nor the run sets others. */
export const DEFAULT_RUN_LIMITS: Readonly<RunLimits> = Object.freeze({
  timeoutMs: 300_000,
  memoryMb: 512,
  outputBytes: 256 * 1024,
  calls: 1_000,
  callsInFlight: 32,
  payloadBytes: 8 * 1024 * 1024,
  writeMb: 1_024,
});

/** Why a run may not begin or go on. */
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

/** One run's leave to run. */
export interface RunTicket {
  /** Watches over the run's code from its beginning. */
  watch(run: MeteredRun): void;
  /** Settles what the run has used. Called once, whether the code began or not. */
  settle(): Promise<void>;
}

/** Meters the runs of one owner: says which may begin, and ends those that have used up what they may. */
export interface RunMeter {
  /** Why no run may begin now, so that no code is written for it. Takes nothing. */
  check(): Promise<RunStop | undefined>;
  /** Called when a run's turn has come. */
  admit(): Promise<RunTicket | RunStop>;
}
