import { spawn } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { root } from "./node24.mjs";
import { compileCache, say, setUp, SetupError } from "./setup.mjs";

const COMMAND = path.join(root, "apps", "cli", "src", "cem.ts");

/**
 * Runs `cem` from the sources, in the folder where one stands.
 *
 * @param {readonly string[]} args
 */
export function runCommand(args) {
  return runSource([COMMAND, ...args], "run");
}

/**
 * Sets up what is missing, then runs a program of the repository from its sources and ends as it ends.
 *
 * @param {readonly string[]} args The file, and its arguments.
 * @param {"run" | "all"} [extent] The packages that it needs.
 */
export async function runSource(args, extent) {
  try {
    const node = await setUp(extent);
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
    const child = spawn(node, ["--conditions=@cem/source", ...args], { stdio: "inherit", env });
    // The program itself decides how to end on these; this process only waits for it.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.on("error", (error) => fail(`The command could not be started: ${error.message}`));
    child.on("exit", (code, signal) => {
      process.exitCode = code ?? 128 + (os.constants.signals[signal] ?? 1);
    });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    fail(error.message);
  }
}

/** @param {string} message What is wrong, and what to do. */
export function fail(message) {
  say(`\n${message}`);
  process.exitCode = 1;
}
