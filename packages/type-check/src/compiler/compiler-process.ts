import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { deathSignalPrefix, GROUP_MARK, trackGroup, untrackGroup } from "@cem/core/files";
import { connectJsonRpc, type RequestHandler } from "./json-rpc.ts";

/** TypeScript's native compiler: one package for each platform, which `typescript` names as optional dependencies. */
export interface CompilerPackage {
  executable: string;
  /** The folder with TypeScript's own library, `lib.*.d.ts`. It ends with a separator. */
  libraryFolder: string;
}

/**
 * Finds the compiler for this platform. Nothing is loaded or started.
 *
 * @param from - The file or URL from which the package `typescript` is resolved.
 * @returns the compiler; or the reason why there is none, as a clause.
 */
export function findCompiler(from: string | URL = import.meta.url): CompilerPackage | { missing: string } {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@typescript/typescript-${platform}`;
  try {
    const typescript = createRequire(from).resolve("typescript/package.json");
    const manifest = createRequire(typescript).resolve(`${name}/package.json`);
    const folder = path.dirname(realpathSync(manifest));
    const libraryFolder = path.join(folder, "lib", path.sep);
    const executable = path.join(libraryFolder, process.platform === "win32" ? "tsc.exe" : "tsc");
    if (existsSync(executable)) return { executable, libraryFolder };
  } catch {
    // Not installed.
  }
  return { missing: `TypeScript's compiler for ${platform} is not installed here (package ${name})` };
}

const SHELL = "/bin/sh";
/** Go's garbage collector works harder near this share of the memory limit. */
const SOFT_MEMORY_SHARE = 0.8;
const MEMORY_POLL_MS = 100;
/** Enough of the end of the process's output to recognise an out-of-memory error. */
const MAX_STDERR_CHARACTERS = 4_096;
const OUT_OF_MEMORY = /out of memory|cannot allocate memory/u;

export interface CompilerProcessSettings {
  compiler: CompilerPackage;
  /** The folder that relative paths start from, as the compiler sees it. */
  workingFolder: string;
  /** Names of the process's requests that {@link RequestHandler} answers. */
  callbacks: readonly string[];
  handle: RequestHandler;
  /** Maximum memory of the process, in MiB. */
  memoryMb: number;
  /** Whether the kernel limits the memory. Otherwise the host measures it during requests. */
  kernelLimit?: boolean | undefined;
  /** The command prefix that makes the kernel end the process with its host. Empty: a separate process watches the host. */
  deathSignal?: readonly string[] | undefined;
}

/** Starts a process of TypeScript's native compiler. It ends with its host, and keeps the host alive only when told to. */
export function startCompilerProcess(settings: CompilerProcessSettings) {
  const { kernelLimit = process.platform === "linux" && existsSync(SHELL), memoryMb } = settings;
  const { deathSignal = deathSignalPrefix() ?? [] } = settings;
  const tooMuchMemory = `it needed more than ${memoryMb} MiB`;
  const exited = Promise.withResolvers<void>();
  let written = "";
  let hasAnswered = false;
  let asking = 0;
  let poll: NodeJS.Timeout | undefined;
  let ended: string | undefined;

  const isTracked = deathSignal.length === 0;
  const mark = randomUUID();
  const [file = "", ...args] = [...deathSignal, ...commandOf(settings, kernelLimit)];
  const child: ChildProcess = spawn(file, args, {
    cwd: os.tmpdir(),
    env: {
      GOMEMLIMIT: `${Math.ceil(memoryMb * SOFT_MEMORY_SHARE)}MiB`,
      GOTRACEBACK: "none",
      [GROUP_MARK]: mark,
    },
    stdio: ["pipe", "pipe", "pipe"],
    detached: isTracked && process.platform !== "win32",
    windowsHide: true,
  });
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) {
    // The host has no file descriptor left, which Node reports later.
    child.once("error", () => {});
    throw new Error("no pipes");
  }
  child.once("error", (error) => {
    end(`TypeScript's compiler did not start (${error.message})`);
    exited.resolve();
  });
  if (isTracked && child.pid !== undefined) trackGroup(child, mark);
  child.once("close", (code, signal) => {
    untrackGroup(child);
    const how = hasAnswered ? "ended unexpectedly" : "did not start";
    const why = `TypeScript's compiler ${how} (${code ?? signal})`;
    end(OUT_OF_MEMORY.test(written) ? tooMuchMemory : why);
    exited.resolve();
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    written = (written + text).slice(0, MAX_STDERR_CHARACTERS);
  });
  const rpc = connectJsonRpc({ stdin, stdout }, settings.handle, ({ message }) => end(message));
  keepHostAlive(false);

  /** Ends the process at once. Pending requests are rejected with the reason. */
  function end(reason: string): void {
    ended ??= reason;
    rpc.close(new Error(ended));
    child.kill("SIGKILL");
  }

  /** Sets whether the host waits for the process, or may end while it runs. */
  function keepHostAlive(alive: boolean): void {
    const method = alive ? "ref" : "unref";
    child[method]();
    for (const pipe of [stdin, stdout, stderr])
      (pipe as { ref?(): void; unref?(): void } | null)?.[method]?.();
  }

  async function checkMemory(): Promise<void> {
    const memory = await residentMb(child.pid);
    if (memory !== undefined && memory > memoryMb) end(tooMuchMemory);
  }

  return {
    end,
    keepHostAlive,
    /** Why the process no longer accepts requests, as a clause. `undefined` while it does. */
    get ended() {
      return ended;
    },
    /** @returns the answer of the process. @throws its error; or, if it ends before it answers, an error with the reason. */
    async request(method: string, params: unknown): Promise<unknown> {
      asking += 1;
      if (!kernelLimit) poll ??= setInterval(() => void checkMemory(), MEMORY_POLL_MS).unref();
      try {
        const answer = await rpc.request(method, params);
        hasAnswered = true;
        return answer;
      } finally {
        asking -= 1;
        if (asking === 0) {
          clearInterval(poll);
          poll = undefined;
        }
      }
    },
    /** Ends the process and waits until it is gone. */
    dispose(): Promise<void> {
      end("the type checker was disposed");
      keepHostAlive(true);
      return exited.promise;
    },
  };
}

function commandOf(
  { compiler, workingFolder, callbacks, memoryMb }: CompilerProcessSettings,
  kernelLimit: boolean,
): readonly string[] {
  const compile = ["--api", "--async", "--cwd", workingFolder, `--callbacks=${callbacks.join(",")}`];
  if (!kernelLimit) return [compiler.executable, ...compile];
  // Limits the data segment, not the much larger address space that Go reserves.
  const limited = `ulimit -c 0; ulimit -d ${Math.ceil(memoryMb) * 1024}; exec "$0" "$@"`;
  return [SHELL, "-c", limited, compiler.executable, ...compile];
}

/** The resident memory of a process in MiB; `undefined` when it can't be measured. */
async function residentMb(pid: number | undefined): Promise<number | undefined> {
  try {
    const text =
      process.platform === "linux"
        ? /^VmRSS:\s*(\d+)/mu.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]
        : (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout;
    return text === undefined ? undefined : Number(text) / 1024;
  } catch {
    return undefined;
  }
}
