import { awaited, call, type Expression } from "../program/expression.ts";
import type { Plan } from "./plan.ts";

const FILE_SYSTEM = "node:fs/promises";
/** Its functions that programs use and that change nothing. */
const READING = ["readFile", "readdir", "stat", "access"] as const;
const WRITING = ["writeFile", "appendFile", "copyFile", "mkdir", "rm"] as const;

type FileFunction = (typeof READING | typeof WRITING)[number];

/** The names that a program's variables leave to functions of `node:fs/promises`. */
export const FILE_FUNCTIONS: readonly string[] = [...READING, ...WRITING];

/** A call of a function of `node:fs/promises`. */
export function callFileSystem(plan: Plan, functionName: FileFunction, ...args: Expression[]): Expression {
  return awaited(call(plan.import(FILE_SYSTEM, functionName), ...args));
}

/** Whether a program only reads files, as far as it is planned. */
export function onlyReadsFiles({ imports }: Plan): boolean {
  const reading: readonly string[] = READING;
  return [...(imports.get(FILE_SYSTEM) ?? [])].every((imported) => reading.includes(imported));
}
