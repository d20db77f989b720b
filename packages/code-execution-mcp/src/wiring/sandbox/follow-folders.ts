import { existsSync } from "node:fs";
import type { Isolation, RunOutcome, RunRequest, Sandbox, SandboxStats } from "@cem/core";

/** A sandbox and the runs that it has under way. */
interface Opened {
  sandbox: Sandbox;
  runs: number;
  /** Whether another sandbox has taken its place. */
  isLeft: boolean;
}

/**
 * Opens a sandbox, and opens it anew once a folder is there that was missing: a sandbox mounts what is there when it is
 * created, and the first skill or the first server makes its folder later. Runs under way keep the sandbox they have.
 *
 * @param create - Creates a sandbox with the folders that are there.
 */
export async function followFolders(
  create: () => Promise<Sandbox>,
  folders: readonly string[],
): Promise<Sandbox> {
  const missing = folders.filter((folder) => !existsSync(folder));
  const sandbox = await create();
  return missing.length === 0 ? sandbox : new FollowingSandbox(sandbox, create, missing);
}

class FollowingSandbox implements Sandbox {
  readonly stats?: () => SandboxStats;
  readonly #create: () => Promise<Sandbox>;
  #missing: readonly string[];
  #opened: Opened;
  #opening: Promise<void> | undefined;
  /** Disposals of sandboxes that were left. */
  readonly #left = new Set<Promise<void>>();

  constructor(sandbox: Sandbox, create: () => Promise<Sandbox>, missing: readonly string[]) {
    this.#opened = { sandbox, runs: 0, isLeft: false };
    this.#create = create;
    this.#missing = missing;
    const first = sandbox.stats?.();
    if (first !== undefined) this.stats = () => this.#opened.sandbox.stats?.() ?? first;
  }

  get isolation(): Isolation {
    return this.#opened.sandbox.isolation;
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    if (this.#missing.some((folder) => existsSync(folder))) {
      this.#opening ??= this.#reopen().finally(() => (this.#opening = undefined));
    }
    if (this.#opening !== undefined) await this.#opening;
    const opened = this.#opened;
    opened.runs += 1;
    try {
      return await opened.sandbox.run(request);
    } finally {
      opened.runs -= 1;
      this.#leave(opened);
    }
  }

  endSession(session: string): void {
    this.#opened.sandbox.endSession?.(session);
  }

  async dispose(): Promise<void> {
    await this.#opening?.catch(() => {});
    await Promise.all([this.#opened.sandbox.dispose(), ...this.#left]);
  }

  async #reopen(): Promise<void> {
    const missing = this.#missing.filter((folder) => !existsSync(folder));
    const sandbox = await this.#create();
    const before = this.#opened;
    this.#missing = missing;
    this.#opened = { sandbox, runs: 0, isLeft: false };
    before.isLeft = true;
    this.#leave(before);
  }

  /** Disposes a sandbox that was left, after its last run. */
  #leave({ sandbox, runs, isLeft }: Opened): void {
    if (!isLeft || runs > 0) return;
    const gone = sandbox.dispose().finally(() => this.#left.delete(gone));
    this.#left.add(gone);
  }
}
