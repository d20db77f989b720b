import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import { PRIVATE_FILE, replaceFile } from "@cem/files";
import { isRunning, ownIdentity } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/** How often a holder shows that it is there. */
const HEARTBEAT_MS = 2_000;
/** How long a holder of another machine is watched for a sign of life. */
const WATCH_MS = 15_000;
const WATCH_PAUSE_MS = 500;
const LOCK = /^lock\.(\d{1,9})$/u;

interface LockContent extends ProcessIdentity {
  token: string;
  /** Grows while the holder is there. */
  beats: number;
  isReleased: boolean;
}

/**
 * The right to carry out a run, which one process has. Each holder has a number of its own, one more than the last: the
 * file of the number is made in one step, so that of two who want it one gets it, and the highest number holds. A holder
 * that was killed is known by its process; one of another machine by its file, which no longer changes. No clock of the
 * wall is asked.
 */
export class RunLock {
  readonly #folder: string;
  readonly #number: number;
  #content: LockContent;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  private constructor(folder: string, number: number, content: LockContent) {
    this.#folder = folder;
    this.#number = number;
    this.#content = content;
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  /**
   * Takes the lock of a run.
   *
   * @throws CemError `WORKFLOW_RUN_BUSY` where another process has it.
   */
  static async take(folder: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<RunLock> {
    for (;;) {
      const last = await highestIn(folder);
      if (last > 0) await assertFree(folder, last, signal);
      const content: LockContent = { ...ownIdentity(), token: randomUUID(), beats: 0, isReleased: false };
      if (await claim(folder, last + 1, content)) return new RunLock(folder, last + 1, content);
    }
  }

  /** @throws CemError `WORKFLOW_RUN_BUSY` once another process took the run over, which held this one for dead. */
  readonly assertHeld = (): void => {
    if (!existsSync(lockFile(this.#folder, this.#number + 1))) return;
    throw new CemError("WORKFLOW_RUN_BUSY", "Another process has taken this run over.", { details: {} });
  };

  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    this.#content = { ...this.#content, isReleased: true };
    await this.#write().catch(() => {});
  }

  #beat(): void {
    this.#content = { ...this.#content, beats: this.#content.beats + 1 };
    this.#beating = this.#write().catch(() => {});
  }

  async #write(): Promise<void> {
    // A holder that was held for dead leaves no file behind that its successor has removed.
    if (existsSync(lockFile(this.#folder, this.#number + 1))) return;
    await replaceFile(lockFile(this.#folder, this.#number), JSON.stringify(this.#content), {
      makeFolders: false,
    });
  }
}

/** Who carries out a run at present. `undefined`: nobody, as far as can be known. */
export async function holderOf(folder: string): Promise<ProcessIdentity | undefined> {
  const last = await highestIn(folder);
  const content = last === 0 ? undefined : await readLock(folder, last);
  if (content === undefined || content.isReleased || isRunning(content) === false) return undefined;
  return { host: content.host, pid: content.pid, started: content.started };
}

/** Makes the lock's file of a number. @returns whether this process got it. */
async function claim(folder: string, number: number, content: LockContent): Promise<boolean> {
  // With its content in one step, so that whoever finds it knows whose it is.
  const own = path.join(folder, `.lock-${content.token}.tmp`);
  await writeFile(own, JSON.stringify(content), { flag: "wx", mode: PRIVATE_FILE });
  try {
    await link(own, lockFile(folder, number));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
  // Others may have gone on meanwhile and removed the file of this number.
  if ((await highestIn(folder)) !== number) {
    await rm(lockFile(folder, number), { force: true });
    return false;
  }
  for (const name of await readdir(folder)) {
    if (numberOf(name) < number && LOCK.test(name)) await rm(path.join(folder, name), { force: true });
  }
  return true;
}

/** @throws CemError `WORKFLOW_RUN_BUSY` */
async function assertFree(folder: string, number: number, signal: AbortSignal | undefined): Promise<void> {
  const content = await readLock(folder, number);
  if (content === undefined || content.isReleased) return;
  const runs = isRunning(content);
  if (runs === false) return;
  if (runs === undefined && !(await showsLife(folder, number, content, signal))) return;
  const where =
    runs === undefined ? "on another machine or in another container" : `with the number ${content.pid}`;
  throw new CemError("WORKFLOW_RUN_BUSY", `A process ${where} carries out this run.`, {
    details: { pid: content.pid },
  });
}

/** Whether a holder of another machine changes its file while it is watched. */
async function showsLife(
  folder: string,
  number: number,
  { beats, token }: LockContent,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const until = performance.now() + WATCH_MS;
  while (performance.now() < until) {
    await delay(WATCH_PAUSE_MS, undefined, signal === undefined ? {} : { signal });
    const now = await readLock(folder, number);
    if (now?.isReleased === true) return false;
    if (now === undefined || now.token !== token || now.beats !== beats) return true;
  }
  return false;
}

async function highestIn(folder: string): Promise<number> {
  return Math.max(0, ...(await readdir(folder)).map(numberOf));
}

function numberOf(name: string): number {
  return Number(LOCK.exec(name)?.[1] ?? 0);
}

function lockFile(folder: string, number: number): string {
  return path.join(folder, `lock.${number}`);
}

/** The content of a lock, which guest code may have changed. What can't be read holds nobody off. */
async function readLock(folder: string, number: number): Promise<LockContent | undefined> {
  try {
    const content = JSON.parse(await readFile(lockFile(folder, number), "utf8")) as Partial<LockContent>;
    const { host, pid, started, token, beats, isReleased } = content;
    if (typeof host !== "string" || typeof token !== "string" || !Number.isSafeInteger(pid)) return undefined;
    return { host, pid: pid as number, started, token, beats: beats ?? 0, isReleased: isReleased === true };
  } catch {
    return undefined;
  }
}
