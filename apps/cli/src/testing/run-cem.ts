import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { CommandIo, StopSignal } from "../io/terminal.ts";
import { main } from "../main.ts";

const root = path.resolve(import.meta.dirname, "../../../..");

/** The repository's own tools, for a command that runs in a folder of its own. */
export const SAMPLES = ["--servers", path.join(root, "servers"), "--skills", path.join(root, "skills")];

/** Exit code and output of a command. */
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

/** A command that runs in this process. */
export interface RunningCem {
  /** Resolves when the command has ended. */
  ended: Promise<Ended>;
  /** Its output, streamed. */
  stdout: PassThrough;
  stderr: PassThrough;
  /** Sends it a signal, as a terminal would. */
  signal: (name: StopSignal) => void;
}

const folders: string[] = [];

/** Removes the folders that the tests of a file made. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Makes a folder that is removed after the tests of the file, however they end. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "cem-cli-"));
  folders.push(folder);
  return folder;
}

/** Runs the command to its end, in this process. */
export function runCem(args: readonly string[], options: RunOptions): Promise<Ended> {
  return startCem(args, options).ended;
}

/**
 * Starts the command in this process, with the folder and the environment it would have as one of its own: nothing of
 * this one's but the PATH. One command runs at a time.
 */
export function startCem(args: readonly string[], { cwd, env = {}, input = "" }: RunOptions): RunningCem {
  const leave = enter(cwd, { PATH: process.env["PATH"], HOME: cwd, ...env });
  const signals = new EventEmitter();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io: CommandIo = {
    stdin: Readable.from([Buffer.from(input)], { objectMode: false }),
    stdout,
    stderr,
    on: (name, listener) => signals.on(name, listener),
    off: (name, listener) => signals.off(name, listener),
  };
  const [out, err] = [collect(stdout), collect(stderr)];
  const ended = main(args, io)
    .then((code) => ({ code, stdout: out(), stderr: err() }))
    .finally(leave);
  return { ended, stdout, stderr, signal: (name) => void signals.emit(name) };
}

function collect(stream: PassThrough): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (more: string) => (text += more));
  return () => text;
}

/** Gives this process another folder and environment, until the returned function is called. */
function enter(cwd: string, env: NodeJS.ProcessEnv): () => void {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const setEnvironment = (variables: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, variables);
  };
  setEnvironment(env);
  process.chdir(cwd);
  return () => {
    process.chdir(before.cwd);
    setEnvironment(before.env);
  };
}
