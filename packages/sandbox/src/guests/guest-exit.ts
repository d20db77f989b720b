import type { GuestError } from "@cem/core";
import type { GuestExit } from "./guest.ts";

/** Messages of V8, Rust and the kernel for exhausted memory. */
const OUT_OF_MEMORY =
  /out of memory|heap limit|memory allocation of \d+ bytes failed|Cannot allocate memory|allocation fail/i;
const SIGKILL_CODE = 137;
const SIGXFSZ_CODE = 153;
/** A guest killed from outside above this share of its memory limit counts as out of memory. */
const NEARLY_FULL = 0.8;
const BYTES_PER_MIB = 1024 * 1024;

type ExitEnding =
  | { status: "completed"; value: undefined }
  | { status: "out-of-memory"; limitMb: number }
  | { status: "failed"; kind: "exception"; error: GuestError }
  | { status: "killed"; reason: "crashed" | "write-limit"; message: string };

/** Classifies the exit of a guest that sent no result. Only its program ends it with the code 0. */
export function explainExit(
  exit: GuestExit,
  given: { stderr: string; peakBytes: number; memoryMb: number; openCalls: number },
): ExitEnding {
  const { stderr, peakBytes, memoryMb, openCalls } = given;
  const killed = exit.signal === "SIGKILL" || exit.code === SIGKILL_CODE;
  const wasFull = killed && peakBytes > memoryMb * BYTES_PER_MIB * NEARLY_FULL;
  if (exit.outOfMemory === true || wasFull || OUT_OF_MEMORY.test(stderr))
    return { status: "out-of-memory", limitMb: memoryMb };
  if (exit.signal === "SIGXFSZ" || exit.code === SIGXFSZ_CODE) {
    return {
      status: "killed",
      reason: "write-limit",
      message: "The program wrote a file that is too large.",
    };
  }
  if (exit.signal === null && exit.code === 0 && openCalls === 0)
    return { status: "completed", value: undefined };
  if (exit.signal === null && exit.code !== null && exit.code < 128) {
    const message = `The program ended its process with exit code ${exit.code} before it had a result.`;
    return { status: "failed", kind: "exception", error: { name: "ExitError", message } };
  }
  const how = exit.signal ?? `exit code ${exit.code}`;
  return { status: "killed", reason: "crashed", message: `The guest crashed (${how}).` };
}

const ALLOCATION_FAILURE =
  /^(?:Array buffer allocation failed|WebAssembly\.Memory\(\): could not allocate memory)$|Out of memory|Cannot allocate memory/;

/** Whether an error means that memory could not be allocated. */
export function isAllocationFailure(error: GuestError): boolean {
  return error.name === "RangeError" && ALLOCATION_FAILURE.test(error.message);
}
