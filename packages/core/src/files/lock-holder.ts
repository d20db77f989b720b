import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isRunning } from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

/** How long the holder of a lock that can't be judged by its process may show no sign of life. */
const SILENCE_MS = 15_000;
const NUMBER = /^[1-9]\d{0,8}$/u;

/** The process that holds a lock. */
export interface LockHolder extends ProcessIdentity {
  token: string;
  /** When it showed that it is there, by its own clock. */
  beat: number;
}

/** The numbers under which a lock is or was held. */
export function numbersIn(place: string): number[] {
  const prefix = `${path.basename(place)}.`;
  try {
    const names = readdirSync(path.dirname(place)).filter((name) => name.startsWith(prefix));
    return names
      .map((name) => name.slice(prefix.length))
      .filter((end) => NUMBER.test(end))
      .map(Number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export function holderFile(place: string, number: number): string {
  return `${place}.${number}`;
}

/**
 * Reads the holder of a number; `undefined` where there is none. One that can't be understood, since it is still being written or
 * was changed, is known by its file alone.
 *
 * @throws the file system's error where this user may not read it.
 */
export function readHolder(place: string, number: number): LockHolder | undefined {
  let descriptor: number;
  try {
    // Opened, so that a file of another machine is not answered from a cache.
    descriptor = openSync(holderFile(place, number), "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { mtimeMs: beat, ino } = fstatSync(descriptor);
    return parse(readFileSync(descriptor, "utf8"), beat) ?? { host: "", pid: 0, token: `file ${ino}`, beat };
  } finally {
    closeSync(descriptor);
  }
}

function parse(text: string, beat: number): LockHolder | undefined {
  try {
    const { host, pid, started, token } = JSON.parse(text) as Partial<LockHolder>;
    if (typeof host !== "string" || typeof token !== "string" || !Number.isSafeInteger(pid)) return undefined;
    return { host, pid: pid as number, started, token, beat };
  } catch {
    return undefined;
  }
}

/** Judges holders of one lock for as long as somebody waits for it. No two clocks are compared. */
export class HolderWatch {
  readonly #seen = new Map<string, { beat: number; since: number; isAlive: boolean }>();

  /** Whether a holder has ended: by its process where that can be known here, else since it shows no sign of life. */
  isDead(holder: LockHolder): boolean {
    const runs = isRunning(holder);
    if (runs !== undefined) return !runs;
    const seen = this.#seen.get(holder.token);
    const now = performance.now();
    if (seen?.beat !== holder.beat)
      this.#seen.set(holder.token, { beat: holder.beat, since: now, isAlive: seen !== undefined });
    return seen !== undefined && seen.beat === holder.beat && now - seen.since > SILENCE_MS;
  }

  /** Whether a holder has shown no sign of life yet and may still do so: it is too early to give up. */
  get isUndecided(): boolean {
    return [...this.#seen.values()].some(
      ({ since, isAlive }) => !isAlive && performance.now() - since <= SILENCE_MS,
    );
  }
}
