import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
/** The command as a program and its first arguments. */
export const CEM_COMMAND = [
  process.execPath,
  "--conditions=@cem/source",
  path.join(root, "apps/cli/src/cem.ts"),
];

/** The repository's own tools, for a command that runs in a folder of its own. */
export const SAMPLES = ["--servers", path.join(root, "servers"), "--skills", path.join(root, "skills")];

/** The command as words of a shell. */
export const SHELL_COMMAND = CEM_COMMAND.map((word) => `'${word}'`).join(" ");

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  input?: string | Uint8Array | undefined;
  env?: Record<string, string> | undefined;
}

/** The command compiles once for all tests. */
const COMPILE_CACHE = process.env["NODE_COMPILE_CACHE"] ?? path.join(os.tmpdir(), "cem-compile-cache");

export function temporaryFolder(): string {
  return mkdtempSync(path.join(os.tmpdir(), "cem-cli-"));
}

/** Starts the command from its sources, as a process of its own, with nothing of this one's environment. */
export function startCem(
  args: readonly string[],
  { cwd, env = {} }: RunOptions,
): ChildProcessWithoutNullStreams {
  const [node = "", ...before] = CEM_COMMAND;
  return spawn(node, [...before, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: "pipe",
  });
}

/** Runs the command to its end. */
export async function runCem(args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = startCem(args, options);
  // A command that reads no stdin may be gone before all of it is written.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  return ended(child);
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
