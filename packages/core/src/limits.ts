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
