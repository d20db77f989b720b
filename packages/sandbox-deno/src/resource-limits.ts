import { findProgram } from "./host-tools.ts";

const BYTES_PER_MIB = 1024 * 1024;
/** What V8 reserves before the program has anything, for the program and for one worker of it. */
const RUNTIME_DATA_MB = 1_152;
const OPEN_FILES = 256;

/** `prlimit … --`, to put before a command; empty where there is no prlimit. */
export function resourceLimitPrefix(limits: { memoryMb: number; writeMb: number }): string[] {
  const prlimit = findProgram("prlimit");
  if (prlimit === undefined) return [];
  const data = Math.ceil(limits.memoryMb + RUNTIME_DATA_MB) * BYTES_PER_MIB;
  const file = Math.ceil(limits.writeMb) * BYTES_PER_MIB;
  return [prlimit, "--core=0", `--nofile=${OPEN_FILES}`, `--data=${data}`, `--fsize=${file}`, "--"];
}
