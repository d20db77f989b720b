import { createHash } from "node:crypto";
import { CemError } from "@cem/core";
import type { Finding, ReviewRequest, ToolDefinition, TypeChecker } from "@cem/core";
import { CheckWorker, type WorkerBounds } from "./check-worker.ts";
import type { ToolFolders } from "./host-files.ts";
import type { CheckedTool, CheckRequest } from "./program-check.ts";
import { VerdictFile } from "./verdict-file.ts";
import { CHECKER_VERSION } from "./version.ts";

const NOT_CHECKED = "not-type-checked";
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MEMORY_MB = 512;
/** Larger code is not checked: its run is bounded, reading it is not worth more. */
const MAX_CODE_CHARACTERS = 256 * 1024;
const MAX_REMEMBERED = 500;

export interface TypeCheckerSettings extends ToolFolders {
  /**
   * Where the tools' files stand on the host, as the guest sees them under `/workspace/servers`. Absent: tools are
   * known by their signatures alone.
   */
  serversDir?: string | undefined;
  /** The same for skills. */
  skillsDir?: string | undefined;
  /** A check that takes longer is ended, and its code passes with a warning. Default: 10,000 ms. */
  timeoutMs?: number | undefined;
  /** A check that needs more is ended, and its code passes with a warning. Default: 512 MiB. */
  memoryMb?: number | undefined;
  /**
   * Folder in which it is kept, for the next process, that nothing was found in some code. With it, TypeScript is
   * loaded only when code has to be checked, or with `prepare`. Default: nowhere.
   */
  cacheDir?: string | undefined;
}

/**
 * A checker of code against the types of the tools it calls. TypeScript runs in a thread of its own, which begins
 * to load at once unless there is a `cacheDir`; its memory and time are bounded, since code may be written to exhaust them. It reads the tools'
 * folders and nothing else.
 */
export function createTypeChecker(settings: TypeCheckerSettings = {}): TypeChecker {
  return new WorkerTypeChecker(settings);
}

class WorkerTypeChecker implements TypeChecker {
  readonly specificationVersion = "v1";
  readonly #folders: ToolFolders;
  readonly #bounds: WorkerBounds;
  readonly #remembered = new Map<string, Finding[]>();
  readonly #kept: VerdictFile | undefined;
  #worker: CheckWorker | undefined;
  #keeping: Promise<unknown> = Promise.resolve();
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor({ serversDir, skillsDir, timeoutMs, memoryMb, cacheDir }: TypeCheckerSettings) {
    this.#folders = {
      ...(serversDir !== undefined && { serversDir }),
      ...(skillsDir !== undefined && { skillsDir }),
    };
    this.#bounds = {
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      memoryMb: memoryMb ?? DEFAULT_MEMORY_MB,
    };
    this.#kept = cacheDir === undefined ? undefined : new VerdictFile(cacheDir, this.#folders);
    if (this.#kept === undefined) this.prepare();
  }

  prepare(): void {
    if (!this.#disposed) this.#obtainWorker();
  }

  /** The same code against the same tools is checked once. */
  async check({ code, tools, signal }: ReviewRequest): Promise<Finding[]> {
    signal?.throwIfAborted();
    if (this.#disposed) {
      throw new CemError("TYPE_CHECKER_DISPOSED", "The type checker was disposed. Create another.");
    }
    if (code.length > MAX_CODE_CHARACTERS) {
      return [notChecked(`it is longer than ${MAX_CODE_CHARACTERS.toLocaleString("en")} characters`)];
    }
    const meant = tools.filter(({ module }) => code.includes(modulePath(module)));
    const key = fingerprint(code, meant);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const request = { code, tools: meant.map(checkedTool) };
    const checking = this.#queue.then(() => this.#run(request, key));
    this.#queue = checking;
    return untilAborted(checking, signal);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#worker?.dispose();
    await this.#queue;
    await this.#keeping;
  }

  async #run(request: CheckRequest, key: string): Promise<Finding[]> {
    if (await this.#kept?.has(key)) return this.#remember(key, []);
    const answer = await this.#obtainWorker().check(request);
    // What could not be checked this time may be checked the next.
    if (!answer.ok) return [notChecked(answer.reason)];
    const { findings, files } = answer;
    if (files !== undefined) {
      this.#keeping = this.#keeping.then(() => this.#kept?.add(key, files));
    }
    return this.#remember(key, findings);
  }

  #obtainWorker(): CheckWorker {
    if (this.#worker === undefined || (this.#worker.ended && !this.#disposed)) {
      this.#worker = new CheckWorker(this.#folders, this.#bounds);
    }
    return this.#worker;
  }

  #remember(key: string, findings: Finding[]): Finding[] {
    this.#remembered.set(key, findings);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
    return findings;
  }
}

/** Stops waiting. The check itself goes on to its own end, for those who wait behind it. */
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
    rule: NOT_CHECKED,
    severity: "warning",
    message: `The types were not checked: ${reason}. The code may still be right.`,
  };
}

function checkedTool({ module, kind, signature }: ToolDefinition): CheckedTool {
  return { module, kind, signature };
}

/** `servers/weather/`: however the import begins. */
function modulePath(module: string): string {
  return module.replace(/^\.\//u, "").replace(/[^/]+$/u, "");
}

function fingerprint(code: string, tools: readonly ToolDefinition[]): string {
  const hash = createHash("sha256").update(JSON.stringify([CHECKER_VERSION, code]));
  for (const { module, kind, signature, inputSchema, outputSchema } of tools) {
    hash.update(JSON.stringify([module, kind, signature, inputSchema, outputSchema]));
  }
  return hash.digest("base64");
}
