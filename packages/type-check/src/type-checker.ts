import { createHash } from "node:crypto";
import path from "node:path";
import {
  abandonOnAbort,
  CemError,
  createTurns,
  hasWorkThreads,
  Lazy,
  moduleBeside,
  offload,
  toErrorInfo,
} from "@cem/core";
import type { Finding, OffloadedWork, ToolDefinition, TypeChecker } from "@cem/core";
import { startCheckSession, type CheckAnswer, type CheckSession, type CheckWork } from "./check-session.ts";
import { findCompiler } from "./compiler/compiler-process.ts";
import { withToolHints } from "./findings/name-hints.ts";
import { HOST_TOOL_FILE, type ToolFolders } from "./compiler/guest-files.ts";
import { modulePath, type CheckedTool, type CheckRequest } from "./program-checker.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MEMORY_MB = 512;
/** Longer code is not checked, and passes with a warning. */
const MAX_CODE_CHARACTERS = 256 * 1024;
const MAX_IN_MEMORY = 500;
/** Idle time, in milliseconds, after which the compiler's process ends, like that of standby guests. */
const IDLE_MS = 300_000;
/** The timeout of a check on the shared compiler, in milliseconds. A check that takes longer gets a compiler of its own. */
const QUICK_TIMEOUT_MS = 2_000;
/** Additional time for a compiler to start in a thread, in milliseconds. */
const START_MS = 5_000;
/** Imported once: even importing a loaded module takes as long as the rest of the preparation. */
const reader = new Lazy(() => import("@cem/program"));

export interface TypeCheckerSettings extends ToolFolders {
  /**
   * Absolute host path of the folder with the tools' files, which the guest sees as `/workspace/servers`.
   *
   * @defaultValue none: tools are known only by their signatures
   */
  serversDir?: string | undefined;
  /**
   * Absolute host path of the folder with the skills' files, which the guest sees as `/workspace/skills`.
   *
   * @defaultValue none
   */
  skillsDir?: string | undefined;
  /**
   * The timeout of one check in milliseconds. A check that exceeds it is ended, and its code passes with a warning.
   *
   * @defaultValue 10,000
   */
  timeoutMs?: number | undefined;
  /**
   * Maximum memory of the compiler, in MiB. A check that needs more is ended, and its code passes with a warning. The
   * kernel bounds it on Linux; elsewhere it is measured while something is checked.
   *
   * @defaultValue 512
   */
  memoryMb?: number | undefined;
}

/**
 * Creates a checker of code against the types of the tools it calls.
 *
 * TypeScript's native compiler runs in a process with bounded time and memory, since code may be written to exhaust them.
 * It starts with the first check, or with `prepare()`, and reads the tools' folders and nothing else on the host but its
 * own library. It does not keep the process alive and ends with it, or by `dispose()`.
 */
export function createTypeChecker(settings: TypeCheckerSettings = {}): TypeChecker {
  return openTypeChecker(settings, findCompiler);
}

export function openTypeChecker(
  settings: TypeCheckerSettings,
  find: typeof findCompiler,
): TypeChecker & { prepare(): Promise<void> } {
  const { serversDir, skillsDir, timeoutMs = DEFAULT_TIMEOUT_MS, memoryMb = DEFAULT_MEMORY_MB } = settings;
  const folders: ToolFolders = { serversDir, skillsDir };
  const bounds = { timeoutMs, memoryMb };
  /** Findings by the key of their check, oldest first. */
  const memory = new Map<string, Finding[]>();
  const inTurn = createTurns();
  let open: CheckSession | undefined;
  let rest: NodeJS.Timeout | undefined;
  let isDisposed = false;

  const obtainSession = (): CheckSession | { missing: string } => {
    if (isDisposed) return { missing: "the type checker was disposed" };
    rest ??= setTimeout(() => void open?.dispose(), IDLE_MS).unref();
    rest.refresh();
    if (open !== undefined && !open.ended) return open;
    const compiler = find();
    if ("missing" in compiler) return compiler;
    try {
      return (open = startCheckSession(compiler, folders, bounds));
    } catch (error) {
      // The host has no process or file descriptor left.
      return { missing: `TypeScript's compiler did not start (${toErrorInfo(error).message})` };
    }
  };

  const checkedTool = ({ module, signature, file }: ToolDefinition): CheckedTool => {
    const isInFile =
      file !== undefined &&
      !HOST_TOOL_FILE.test(file) &&
      [serversDir, skillsDir].some((folder) => folder !== undefined && file.startsWith(folder + path.sep));
    return { module, signature, isInFile };
  };

  const take = (answer: CheckAnswer, key: string): Finding[] => {
    // Not cached: the next check of the same code may succeed.
    if (!answer.ok) return [notChecked(answer.reason)];
    const { findings } = answer;
    memory.set(key, findings);
    const [oldest] = memory.keys();
    if (memory.size > MAX_IN_MEMORY && oldest !== undefined) memory.delete(oldest);
    return findings;
  };

  /** @returns `undefined` for a check that did not end within `quickMs`, which is shorter than the timeout of all checks. */
  const run = async (request: CheckRequest, key: string, quickMs?: number) => {
    const session = obtainSession();
    if ("missing" in session) return [notChecked(session.missing)];
    const shorter = quickMs === undefined ? undefined : Math.min(quickMs, timeoutMs);
    const answer = await session.check(request, shorter);
    return shorter !== undefined && !answer.ok && session.ended ? undefined : take(answer, key);
  };

  const runElsewhere = async (request: CheckRequest, key: string, signal?: AbortSignal) => {
    const work: CheckWork = { folders, bounds, request };
    const describe = (): OffloadedWork => ({
      module: moduleBeside("check-session", import.meta.url),
      name: "check",
      args: [work],
      timeoutMs: timeoutMs + START_MS,
      signal,
    });
    const here: CheckAnswer = { ok: false, reason: "there is no thread for it" };
    return take(await offload(describe, () => here).catch(unlessTooLarge), key);
  };

  return {
    specificationVersion: "v1",
    async prepare() {
      const session = obtainSession();
      if (!("missing" in session)) await session.ready();
    },
    async check({ code, tools, strict = false, signal }) {
      signal?.throwIfAborted();
      if (isDisposed) {
        throw new CemError("TYPE_CHECKER_DISPOSED", "The type checker was disposed before the check.");
      }
      if (code.length > MAX_CODE_CHARACTERS) {
        return [notChecked(`it is longer than ${MAX_CODE_CHARACTERS.toLocaleString("en")} characters`)];
      }
      const imported = toolsNamedIn(code, tools);
      const key = keyOf(code, imported, strict);
      const known = memory.get(key);
      if (known !== undefined) return withToolHints(known, code, tools);
      const request = { code, tools: imported.map(checkedTool), strict };
      const { isQuicklyRead } = await reader.get();
      // Checks queue for the shared compiler: a long check gets one of its own, if there are threads for it.
      const quickMs = hasWorkThreads() ? QUICK_TIMEOUT_MS : undefined;
      const checked =
        quickMs === undefined || isQuicklyRead(code)
          ? await abandonOnAbort(
              inTurn(() => run(request, key, quickMs)),
              signal,
            )
          : undefined;
      return withToolHints(checked ?? (await runElsewhere(request, key, signal)), code, tools);
    },
    async dispose() {
      isDisposed = true;
      clearTimeout(rest);
      await open?.dispose();
      // Waits until all pending checks have ended.
      await inTurn(() => {});
    },
  };
}

function notChecked(reason: string): Finding {
  return {
    rule: "not-type-checked",
    severity: "warning",
    message: `The types were not checked: ${reason}. The code may still be right.`,
  };
}

/** The tools whose modules the code names. There may be thousands of tools, in far fewer modules. */
function toolsNamedIn(code: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const modules = new Set(tools.map(({ module }) => module));
  const named = new Set([...modules].filter((module) => code.includes(modulePath(module))));
  return tools.filter(({ module }) => named.has(module));
}

/** The answer when a thread ended a check that took too long or needed too much memory. */
function unlessTooLarge(error: unknown): CheckAnswer {
  if (CemError.isInstance(error) && error.code === "INPUT_TOO_LARGE") {
    return { ok: false, reason: "it took too long or needed too much memory" };
  }
  throw error;
}

/** The cache key of a check: everything that its findings depend on, except the tools' files. */
function keyOf(code: string, tools: readonly ToolDefinition[], strict: boolean): string {
  const hash = createHash("sha256").update(JSON.stringify([code, strict]));
  for (const { module, kind, signature, inputSchema, outputSchema } of tools) {
    hash.update(JSON.stringify([module, kind, signature, inputSchema, outputSchema]));
  }
  return hash.digest("base64");
}
