import { findProgram } from "./find-program.ts";

const BYTES_PER_MIB = 1024 * 1024;
/** Address space that V8 reserves for an empty program and one worker. */
const RUNTIME_DATA_MB = 1_152;
const OPEN_FILES = 256;

/** Builds the `prlimit … --` prefix of a command; empty where prlimit is not installed. */
export function resourceLimitPrefix(limits: { memoryMb: number; writeMb: number }): string[] {
  const prlimit = findProgram("prlimit");
  if (prlimit === undefined) return [];
  const data = Math.ceil(limits.memoryMb + RUNTIME_DATA_MB) * BYTES_PER_MIB;
  const file = Math.ceil(limits.writeMb) * BYTES_PER_MIB;
  return [prlimit, "--core=0", `--nofile=${OPEN_FILES}`, `--data=${data}`, `--fsize=${file}`, "--"];
}
