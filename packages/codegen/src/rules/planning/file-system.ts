import { awaited, call, type Expression } from "../program/expression.ts";
import { type FileFunction, READING } from "./file-functions.ts";
import type { Plan } from "./plan.ts";

const FILE_SYSTEM = "node:fs/promises";

/** A call of a function of `node:fs/promises`. */
export function callFileSystem(plan: Plan, functionName: FileFunction, ...args: Expression[]): Expression {
  return awaited(call(plan.import(FILE_SYSTEM, functionName), ...args));
}

/** Whether a program only reads files, as far as it is planned. */
export function onlyReadsFiles({ imports }: Plan): boolean {
  const reading: readonly string[] = READING;
  return [...(imports.get(FILE_SYSTEM) ?? [])].every((imported) => reading.includes(imported));
}
