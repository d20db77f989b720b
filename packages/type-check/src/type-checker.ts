import { createHash } from "node:crypto";
import { CemError } from "@cem/core";
import type { Finding, ReviewRequest, ToolDefinition, TypeChecker } from "@cem/core";
import { CheckWorker, type WorkerBounds } from "./check-worker.ts";
import type { ToolFolders } from "./guest-files.ts";
import type { CheckedTool, CheckRequest } from "./program-check.ts";

const NOT_CHECKED = "not-type-checked";
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MEMORY_MB = 512;
/** Larger code is not checked: its run is bounded, reading it is not worth more. */
const MAX_CODE_CHARACTERS = 256 * 1024;
const MAX_REMEMBERED = 500;

export interface TypeCheckerSettings extends ToolFolders, Partial<WorkerBounds> {
  /**
   * Where the tools' files stand on the host, as the guest sees them under `/workspace/servers`. Absent: tools are
   * known by their signatures alone.
   */
  serversDir?: string;
  /** The same for skills. */
  skillsDir?: string;
  /** A check that takes longer is ended, and its code passes with a warning. Default: 10,000 ms. */
  timeoutMs?: number;
  /** A check that needs more is ended, and its code passes with a warning. Default: 512 MiB. */
  memoryMb?: number;
}

/**
 * A checker of code against the types of the tools it calls. TypeScript runs in a thread of its own, which begins
 * to load at once; its memory and time are bounded, since code may be written to exhaust them. It reads the tools'
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
  #worker: CheckWorker;
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor({ serversDir, skillsDir, timeoutMs, memoryMb }: TypeCheckerSettings) {
    this.#folders = {
      ...(serversDir !== undefined && { serversDir }),
      ...(skillsDir !== undefined && { skillsDir }),
    };
    this.#bounds = {
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      memoryMb: memoryMb ?? DEFAULT_MEMORY_MB,
    };
    this.#worker = new CheckWorker(this.#folders, this.#bounds);
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
    const checking = this.#queue.then(() => this.#run({ code, tools: meant.map(checkedTool) }, key));
    this.#queue = checking;
    return untilAborted(checking, signal);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#worker.dispose();
    await this.#queue;
  }

  async #run(request: CheckRequest, key: string): Promise<Finding[]> {
    if (this.#worker.ended && !this.#disposed) this.#worker = new CheckWorker(this.#folders, this.#bounds);
    const answer = await this.#worker.check(request);
    // What could not be checked this time may be checked the next.
    if (!answer.ok) return [notChecked(answer.reason)];
    this.#remembered.set(key, answer.findings);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
    return answer.findings;
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

function checkedTool({ module, name, signature }: ToolDefinition): CheckedTool {
  return { module, name, signature };
}

/** `servers/weather/`: however the import begins. */
function modulePath(module: string): string {
  return module.replace(/^\.\//u, "").replace(/[^/]+$/u, "");
}

function fingerprint(code: string, tools: readonly ToolDefinition[]): string {
  const hash = createHash("sha256").update(JSON.stringify(code));
  for (const { module, signature, inputSchema, outputSchema } of tools) {
    hash.update(JSON.stringify([module, signature, inputSchema, outputSchema]));
  }
  return hash.digest("base64");
}
