import type { Finding } from "@cem/core";
import { findCompiler, type CompilerPackage } from "./compiler/compiler-process.ts";
import { UnreadableProgram } from "./compiler/diagnostics.ts";
import { createGuestFiles, type ToolFolders } from "./compiler/guest-files.ts";
import { startNativeCompiler } from "./compiler/native-compiler.ts";
import { createProgramChecker, type CheckRequest } from "./program-checker.ts";

/** Starting takes a tenth of a second, and many seconds on a busy machine. */
const START_TIMEOUT_MS = 60_000;
const MAX_REASON_CHARACTERS = 200;
/** A compiler that has requested more files is replaced by a new one, since each check looks for changes in all of them. */
const MAX_KNOWN_FILES = 5_000;
/** A program without mistakes, if TypeScript has its library. */
const FIRST_PROGRAM = "export default new Map<string, Promise<Date>>();";

export interface CheckBounds {
  /** The timeout of one check, in milliseconds. */
  timeoutMs: number;
  /** Maximum memory of the compiler, in MiB. */
  memoryMb: number;
}

export type CheckAnswer = { ok: true; findings: Finding[] } | { ok: false; reason: string };

/** The checks of one compiler process. It ends when a check exceeds its time or memory. */
export type CheckSession = ReturnType<typeof startCheckSession>;

/** Starts a compiler and makes it read its library, so that the first check is fast. */
export function startCheckSession(found: CompilerPackage, folders: ToolFolders, bounds: CheckBounds) {
  const files = createGuestFiles(folders);
  const native = startNativeCompiler(found, files, bounds.memoryMb);
  const compiler = native.process;
  const checker = createProgramChecker(native, files);

  /** Ends the compiler when the work is not done in time. The rest of the work then fails. */
  const withTimeout = async <T>(timeoutMs: number, reason: string, work: () => Promise<T>): Promise<T> => {
    const timer = setTimeout(() => compiler.end(reason), timeoutMs).unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  };

  const started = withTimeout(START_TIMEOUT_MS, "TypeScript's compiler did not start", async () => {
    const findings = await checker.check({ code: FIRST_PROGRAM, tools: [] });
    if (findings.length > 0) throw new Error("TypeScript's library could not be read");
  });
  started.catch(() => {});

  return {
    /** Resolves once the compiler has read its library, or could not. */
    ready: (): Promise<void> => started.catch(() => {}),
    get ended() {
      return compiler.ended !== undefined;
    },
    /** Only one check may run at a time. @param timeoutMs - A shorter timeout than that of all checks. */
    async check(request: CheckRequest, timeoutMs = bounds.timeoutMs): Promise<CheckAnswer> {
      compiler.keepHostAlive(true);
      try {
        await started;
        const late = `it took more than ${timeoutMs / 1000} s`;
        return { ok: true, findings: await withTimeout(timeoutMs, late, () => checker.check(request)) };
      } catch (error) {
        const message = error instanceof Error ? error.message : "unknown";
        const reason = message.replace(/\.$/u, "").slice(0, MAX_REASON_CHARACTERS);
        if (!(error instanceof UnreadableProgram)) compiler.end(reason);
        return { ok: false, reason };
      } finally {
        compiler.keepHostAlive(false);
        if (files.known > MAX_KNOWN_FILES) compiler.end("it has read too many files");
      }
    },
    /** Ends the compiler's process and waits until it is gone. */
    dispose: () => compiler.dispose(),
  };
}

/** Inputs of a check in another thread. */
export interface CheckWork {
  folders: ToolFolders;
  bounds: CheckBounds;
  request: CheckRequest;
}

/** The compiler of this thread, for the folders that it was started with. It ends with the thread. */
let current: { key: string; session: CheckSession } | undefined;

export async function check({ folders, bounds, request }: CheckWork): Promise<CheckAnswer> {
  const key = JSON.stringify([folders, bounds]);
  if (current !== undefined && (current.key !== key || current.session.ended)) {
    await current.session.dispose();
    current = undefined;
  }
  if (current === undefined) {
    const compiler = findCompiler();
    if ("missing" in compiler) return { ok: false, reason: compiler.missing };
    current = { key, session: startCheckSession(compiler, folders, bounds) };
  }
  return current.session.check(request);
}
