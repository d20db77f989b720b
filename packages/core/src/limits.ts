import type { RunLimits } from "./sandbox.ts";

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
