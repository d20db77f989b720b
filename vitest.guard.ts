import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Names the temporary folder of a test run. Short, since paths of unix sockets have at most 107 characters. */
const PREFIX = "cem-t";
/** Set while a run has its folder: a run inside it shares it. */
const MARK = "CEM_TEST_FOLDER";
/** How long processes that were told to end may take. */
const GRACE_MS = 15_000;
const POLL_MS = 100;
const ABANDONED_MS = 3_600_000;

/** A process that outlived the tests that started it. */
interface Stray {
  pid: number;
  command: string;
  ports: readonly string[];
}

/**
 * Gives a test run a temporary folder of its own, and ends it by looking for what the tests left behind: the folder is
 * removed with all that is in it; a process that was started with it and still lives is ended, and fails the run.
 * Processes are found on Linux only.
 */
export default function guard(): (() => Promise<void>) | undefined {
  if (process.env[MARK] !== undefined) return undefined;
  const outer = process.env["TMPDIR"];
  removeAbandoned();
  const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), `${PREFIX}${process.pid}-`));
  process.env["TMPDIR"] = folder;
  process.env[MARK] = folder;
  return async () => {
    const strays = await findStrays(folder);
    for (const { pid } of strays) end(pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: POLL_MS });
    delete process.env[MARK];
    if (outer === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = outer;
    if (strays.length > 0) {
      process.exitCode = 1;
      throw new Error(`The tests left processes behind:\n${strays.map(describeStray).join("\n")}`);
    }
  };
}

/** Removes the folders of runs that were killed before they could do so. A recent one may be of a container with the same `/tmp`. */
function removeAbandoned(): void {
  for (const name of readdirSync(os.tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = path.join(os.tmpdir(), name);
    if (Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < ABANDONED_MS)
      continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The processes that name the folder and are still there after the grace. */
async function findStrays(folder: string): Promise<readonly Stray[]> {
  if (process.platform !== "linux") return [];
  const deadline = Date.now() + GRACE_MS;
  for (;;) {
    const found = processesNaming(folder);
    if (found.length === 0) return [];
    if (Date.now() > deadline)
      return found.map((pid) => ({ pid, command: commandOf(pid), ports: portsOf(pid) }));
    await sleep(POLL_MS);
  }
}

/** Every process but this one and the workers of the test runner that has the folder in its environment, arguments or as its own. */
function processesNaming(folder: string): readonly number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((pid) => {
    if (pid === process.pid || isWorker(pid)) return false;
    return [read(pid, "environ"), read(pid, "cmdline"), workingFolder(pid)].some((text) =>
      text.includes(folder),
    );
  });
}

/** Whether a process is a worker of the test runner that runs this: they end after the check. */
function isWorker(pid: number): boolean {
  const parent = Number(read(pid, "stat").split(") ").at(-1)?.split(" ")[1]);
  return (
    parent === process.pid && read(pid, "cmdline").includes(`${path.sep}vitest${path.sep}dist${path.sep}`)
  );
}

/** A file of a process in `/proc`; empty for one that has ended or belongs to somebody else. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function commandOf(pid: number): string {
  return read(pid, "cmdline").replaceAll("\0", " ").trim();
}

/** The addresses a process listens on: its sockets among those in state LISTEN (0A) of `/proc/net/tcp`. */
function portsOf(pid: number): readonly string[] {
  const sockets = new Set(openFiles(pid).map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  return ["net/tcp", "net/tcp6"].flatMap((file) =>
    read(pid, file)
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === "0A" && sockets.has(fields[9]))
      .map(([, local = ""]) => `port ${Number.parseInt(local.split(":").at(-1) ?? "", 16)}`),
  );
}

function openFiles(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function describeStray({ pid, command, ports }: Stray): string {
  return `  ${pid}: ${command}${ports.length > 0 ? `, listening on ${ports.join(", ")}` : ""}`;
}
