import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import os from "node:os";
import path from "node:path";
import type { Ended, RunOptions } from "./run-cem.ts";

const root = path.resolve(import.meta.dirname, "../../../..");

/** The command as a program and its first arguments. */
export const CEM_COMMAND = [
  process.execPath,
  "--conditions=@cem/source",
  path.join(root, "apps/cli/src/cem.ts"),
];

/** The command as words of a shell. */
export const SHELL_COMMAND = CEM_COMMAND.map((word) => `'${word}'`).join(" ");

/** The command compiles once for all tests. */
export const COMPILE_CACHE =
  process.env["NODE_COMPILE_CACHE"] ?? path.join(root, "node_modules/.cache/cem-compile");

const started: ChildProcessWithoutNullStreams[] = [];

/** Kills the commands of a test that still run. */
export function endProcesses(): void {
  for (const child of started.splice(0)) child.kill("SIGKILL");
}

/**
 * Starts the command from its sources as a process of its own, for what only a process shows. It is killed when the
 * test ends, if it still runs.
 */
export function spawnCem(
  args: readonly string[],
  { cwd, env = {}, input }: RunOptions,
): ChildProcessWithoutNullStreams & { ended: Promise<Ended> } {
  const [node = "", ...before] = CEM_COMMAND;
  const child = spawn(node, [...before, ...args], {
    cwd,
    // Killed, it leaves its temporary files in the folder that goes with the tests.
    env: {
      PATH: process.env["PATH"],
      HOME: cwd,
      TMPDIR: os.tmpdir(),
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    },
    stdio: "pipe",
  });
  started.push(child);
  // A command that reads no stdin may be gone before all of it is written.
  child.stdin.on("error", () => {});
  if (input !== undefined) child.stdin.end(input);
  return Object.assign(child, { ended: endOf(child) });
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
