import { createHash } from "node:crypto";
import { CemError } from "@cem/core";
import type { Finding, ReviewRequest, ToolDefinition, TypeChecker } from "@cem/core";
import { CheckWorker, type WorkerBounds } from "./check-worker.ts";
import type { ToolFolders } from "./host-files.ts";
import type { CheckedTool, CheckRequest } from "./program-checker.ts";
import { CheckCache } from "./check-cache.ts";
import { CHECKER_VERSION } from "./version.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MEMORY_MB = 512;
/** Longer code is not checked, and passes with a warning. */
const MAX_CODE_CHARACTERS = 256 * 1024;
const MAX_IN_MEMORY = 500;

export interface TypeCheckerSettings extends ToolFolders {
  /**
   * Absolute host path of the folder with the tools' files, which the guest sees as `/workspace/servers`.
   *
   * @defaultValue none: tools are known by their signatures alone
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
   * The most memory of the checking thread, in MiB. A check that needs more is ended, and its code passes with a warning.
   *
   * @defaultValue 512
   */
  memoryMb?: number | undefined;
  /**
   * A folder that caches, across processes, which code had no findings. With it TypeScript is loaded when code has to be
   * checked or `prepare()` is called, not when the checker is created.
   *
   * @defaultValue none: findings are cached in memory only
   */
  cacheDir?: string | undefined;
}

/**
 * Creates a checker of code against the types of the tools it calls.
 *
 * TypeScript runs in a worker thread with bounded time and memory, since code may be written to exhaust them. The thread
 * reads the tools' folders and nothing else on the host. It does not keep the process alive; `dispose()` ends it.
 */
export function createTypeChecker(settings: TypeCheckerSettings = {}): TypeChecker {
  return new WorkerTypeChecker(settings);
}

class WorkerTypeChecker implements TypeChecker {
  readonly specificationVersion = "v1";
  readonly #folders: ToolFolders;
  readonly #bounds: WorkerBounds;
  /** Findings by the fingerprint of code and tools, oldest first. */
  readonly #memory = new Map<string, Finding[]>();
  readonly #file: CheckCache | undefined;
  #worker: CheckWorker | undefined;
  /** Settles when all pending writes to the cache file have. */
  #writing: Promise<unknown> = Promise.resolve();
  /** Settles when all pending checks have: they run one after another. */
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor({ serversDir, skillsDir, timeoutMs, memoryMb, cacheDir }: TypeCheckerSettings) {
    this.#folders = { serversDir, skillsDir };
    this.#bounds = {
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      memoryMb: memoryMb ?? DEFAULT_MEMORY_MB,
    };
    this.#file = cacheDir === undefined ? undefined : new CheckCache(cacheDir, this.#folders);
    if (this.#file === undefined) this.prepare();
  }

  prepare(): void {
    if (!this.#disposed) this.#obtainWorker();
  }

  async check({ code, tools, signal }: ReviewRequest): Promise<Finding[]> {
    signal?.throwIfAborted();
    if (this.#disposed) {
      throw new CemError("TYPE_CHECKER_DISPOSED", "The type checker was disposed before the check.");
    }
    if (code.length > MAX_CODE_CHARACTERS) {
      return [notChecked(`it is longer than ${MAX_CODE_CHARACTERS.toLocaleString("en")} characters`)];
    }
    const imported = tools.filter(({ module }) => code.includes(modulePath(module)));
    const key = fingerprint(code, imported);
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const request = { code, tools: imported.map(checkedTool) };
    const checking = this.#queue.then(() => this.#run(request, key));
    this.#queue = checking;
    return untilAborted(checking, signal);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#worker?.dispose();
    await this.#queue;
    await this.#writing;
  }

  async #run(request: CheckRequest, key: string): Promise<Finding[]> {
    if (await this.#file?.has(key)) return this.#store(key, []);
    const answer = await this.#obtainWorker().check(request);
    // Not cached: the next check of the same code may succeed.
    if (!answer.ok) return [notChecked(answer.reason)];
    const { findings, files } = answer;
    if (files !== undefined) {
      this.#writing = this.#writing.then(() => this.#file?.add(key, files));
    }
    return this.#store(key, findings);
  }

  #obtainWorker(): CheckWorker {
    if (this.#worker === undefined || (this.#worker.ended && !this.#disposed)) {
      this.#worker = new CheckWorker(this.#folders, this.#bounds);
    }
    return this.#worker;
  }

  #store(key: string, findings: Finding[]): Finding[] {
    this.#memory.set(key, findings);
    const [oldest] = this.#memory.keys();
    if (this.#memory.size > MAX_IN_MEMORY && oldest !== undefined) this.#memory.delete(oldest);
    return findings;
  }
}

/** Rejects when the signal aborts. The check itself continues, since others may wait for it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}

function notChecked(reason: string): Finding {
  return {
    rule: "not-type-checked",
    severity: "warning",
    message: `The types were not checked: ${reason}. The code may still be right.`,
  };
}

function checkedTool({ module, kind, signature }: ToolDefinition): CheckedTool {
  return { module, kind, signature };
}

/** The part of a module's path that every form of its import contains: `servers/weather/`. */
function modulePath(module: string): string {
  return module.replace(/^\.\//u, "").replace(/[^/]+$/u, "");
}

/** The cache key of a check: whatever its findings depend on, apart from the tools' files. */
function fingerprint(code: string, tools: readonly ToolDefinition[]): string {
  const hash = createHash("sha256").update(JSON.stringify([CHECKER_VERSION, code]));
  for (const { module, kind, signature, inputSchema, outputSchema } of tools) {
    hash.update(JSON.stringify([module, kind, signature, inputSchema, outputSchema]));
  }
  return hash.digest("base64");
}
