import path from "node:path";
import { CemError } from "@cem/core";
import { FileLock, holderOf } from "@cem/core/files";
import type { LockHolder } from "@cem/core/files";

const LOCK_FILE = "lock";

/** An exclusive lease on a run, which the process that carries it out has. */
export class RunLock {
  readonly #lock: FileLock;

  private constructor(lock: FileLock) {
    this.#lock = lock;
  }

  /**
   * Takes the lock of a run. A holder of another machine or container is watched for a sign of life before.
   *
   * @throws CemError `WORKFLOW_RUN_BUSY` where another process has it.
   */
  static async take(folder: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<RunLock> {
    const busy = (holder: LockHolder | undefined): CemError =>
      new CemError(
        "WORKFLOW_RUN_BUSY",
        `Another process${holder === undefined ? "" : ` (number ${holder.pid}, perhaps of another machine or container)`} carries out this run.`,
        { details: { pid: holder?.pid } },
      );
    return new RunLock(await FileLock.take(path.join(folder, LOCK_FILE), { waitMs: 0, busy, signal }));
  }

  /** @throws CemError `WORKFLOW_RUN_BUSY` once another process took the run over, which held this one for dead. */
  readonly assertHeld = (): void => {
    if (this.#lock.isHeld()) return;
    throw new CemError("WORKFLOW_RUN_BUSY", "Another process has taken this run over.", { details: {} });
  };

  release(): void {
    this.#lock.release();
  }
}

/** The process that carries out a run at present. `undefined`: none, as far as can be known. */
export function runHolder(folder: string): LockHolder | undefined {
  return holderOf(path.join(folder, LOCK_FILE));
}
