import type { ErrorCode } from "./errors.ts";
import type { ErrorDetails } from "./errors.ts";

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
