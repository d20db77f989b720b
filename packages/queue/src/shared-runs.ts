import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { namesOf } from "./connection.ts";
import type { QueuedRun } from "./protocol.ts";
import { createRemembered, SET_BACK } from "./remembered.ts";
import type { DeadRun, QueueCounts, QueueLoad } from "./run-queue.ts";
import { MAX_LOSSES } from "./run-library.ts";
import * as scripts from "./run-scripts.ts";
import type { StreamEntry } from "./streams.ts";

const MINUTE_MS = 60_000;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 600_000;
const SCANNED = 1_000;
const DEAD_FIELDS = ["owner", "kind", "reason", "diedAt"];

/** The beginning of the ids of runs to which their callers gave one. */
export const CALLERS_ID = "id-";

export type GivenRun = ReturnType<typeof givenRun>;

/** How an attempt ends or continues: it ends when another worker has to repeat the run, or its owner is gone. */
export type Ending = "" | "done" | "dead" | "gone" | "back";

/** The runs that hosts and workers share on a server. Each change is one script there. */
export type SharedRuns = ReturnType<typeof createSharedRuns>;

export function createSharedRuns(client: Redis, prefix: string) {
  for (const [name, lua] of Object.entries(scripts)) client.defineCommand(name, { numberOfKeys: 1, lua });
  const commands = client as unknown as Record<
    keyof typeof scripts,
    (...args: unknown[]) => Promise<unknown>
  >;

  async function load(): Promise<Pick<QueueLoad, "oldestWaitMs" | "endedPerMinute">> {
    const [oldestWaitMs = 0, endedPerMinute = 0] = (await call("MEASURE")) as number[];
    return { oldestWaitMs, endedPerMinute };
  }

  function call(name: keyof typeof scripts, ...args: (string | number)[]): Promise<unknown> {
    return commands[name](prefix, ...args);
  }

  const ended = createRemembered<true>();

  return {
    /** Remembers that a run has ended, unless its id is its caller's, who may use it again once its owner was deleted. */
    noteEnded(id: string): void {
      if (!id.startsWith(CALLERS_ID)) ended.set(id, true);
    },
    /** Removes what was seen to end from a server that was set back, after a lost connection, and tells of it. */
    async dropEnded(tell: (message: string) => void): Promise<void> {
      const ids = ended.ids();
      const dropped = ids.length === 0 ? 0 : ((await call("DROP", ...ids)) as number);
      if (dropped > 0) tell(`${SET_BACK} Runs that had ended are not run again: ${dropped}.`);
    },
    /**
     * Puts a run.
     *
     * @param host - The channel of its host's notices.
     * @returns when refused: the number of waiting runs, and approximately how many of them are the owner's.
     */
    async put(id: string, run: QueuedRun, payload: string, host: string, maxWaiting: number) {
      const { owner = "", kind, options } = run;
      const session = warmSession(prefix, run) ?? "";
      // Owners take turns; for runs without an owner, the clients that own their records.
      const args = [id, payload, host, session, owner, kind, owner || (options.owner ?? ""), maxWaiting];
      const [known, waiting, own] = (await call("PUT", ...args)) as [string | null, number?, number?];
      if (waiting !== undefined && own !== undefined) return { waiting, own };
      return { known: known ?? undefined };
    },
    /** @returns the run's payload; `undefined` when there is none */
    async join(id: string, host: string): Promise<string | undefined> {
      return ((await call("JOIN", id, host)) as string | null) ?? undefined;
    },
    /** @returns whether the attempt holds the run's lease: another one may have begun */
    async send(
      { id, attempt, worker }: { id: string; attempt: number; worker: string },
      ending: Ending,
      entry?: StreamEntry,
      reason = "",
    ): Promise<boolean> {
      const { payload = "", by = "" } = entry ?? {};
      return (await call("SEND", id, attempt, worker, ending, payload, by, reason)) === 1;
    },
    async reply(id: string, { payload, by }: StreamEntry): Promise<void> {
      await call("REPLY", id, payload, by);
    },
    /** @returns whether it was removed: not when a worker has it, or with `isOnlyWaiting` when it is not waiting */
    async remove(id: string, { payload, by }: StreamEntry, isOnlyWaiting = false): Promise<boolean> {
      return (await call("REMOVE", id, isOnlyWaiting ? 1 : 0, payload, by)) === 1;
    },
    /**
     * @param unknown - Runs that are assigned to the worker but that it does not have.
     * @returns the worker's runs
     */
    async sign(
      worker: string,
      { slots, keepsGuests, lostAfterMs }: { slots: number; keepsGuests: boolean; lostAfterMs: number },
      unknown: readonly string[],
    ): Promise<string[]> {
      const settings = `${slots} ${keepsGuests ? 1 : 0} ${lostAfterMs}`;
      return (await call("SIGN", worker, settings, lostAfterMs, ...unknown)) as string[];
    },
    /** Gives all runs of a worker to others. */
    async leave(worker: string): Promise<void> {
      await call("LEAVE", worker);
    },
    async retry(id: string): Promise<boolean> {
      return (await call("RETRY", id)) === 1;
    },
    /** @param isWritten - Also writes something, which a full server refuses. */
    async counts(isWritten = false): Promise<QueueCounts> {
      const counts = (await call("COUNT", isWritten ? 1 : 0)) as number[];
      const [waiting = 0, running = 0, dead = 0, workers = 0] = counts;
      return { waiting, running, dead, workers };
    },
    load,
    /** Estimated time for this many runs, in milliseconds. */
    async waitFor(runs: number): Promise<number> {
      const { endedPerMinute } = await load();
      const ms = Math.round((runs / Math.max(1, endedPerMinute)) * MINUTE_MS);
      return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, ms));
    },
    async payloadOf(id: string): Promise<string | undefined> {
      return (await client.hget(namesOf(prefix, id).run, "payload")) ?? undefined;
    },
    /** The reason why nobody will end a run, as a sentence. `undefined` when somebody has it, will have it or has ended it. */
    async whyGone(id: string): Promise<string | undefined> {
      const { run } = namesOf(prefix, id);
      const [payload, dead] = await Promise.all([
        client.hget(run, "payload"),
        client.zscore(`${prefix}:runs:dead`, id),
      ]);
      if (dead !== null) return `${MAX_LOSSES + 1} workers were lost while they executed the run.`;
      if (payload === "")
        return "The run has ended, and its result is no longer kept, as later ones took its place.";
      return payload === null ? "The worker was lost." : undefined;
    },
    /** The newest dead runs, with their encoded reasons. */
    async dead(count: number): Promise<(Omit<DeadRun, "reason"> & { reason: string | undefined })[]> {
      const ids = await client.zrevrange(`${prefix}:runs:dead`, 0, count - 1);
      const found = await Promise.all(
        ids.map(async (id) => {
          const { run } = namesOf(prefix, id);
          const [owner, kind, reason, diedAt] = await client.hmget(run, ...DEAD_FIELDS);
          // A run that was retried meanwhile, or has expired.
          if (diedAt === undefined || diedAt === null) return [];
          const at = new Date(Number(diedAt));
          return [
            { id, owner: owner || undefined, kind: kind as DeadRun["kind"], reason: reason ?? undefined, at },
          ];
        }),
      );
      return found.flat();
    },
    /** The ids of an owner's runs, including ended ones. */
    async *ofOwner(owner: string): AsyncGenerator<string> {
      const { run: pattern } = namesOf(prefix.replaceAll(/[\\*?[\]^]/gu, "\\$&"), "*");
      const start = namesOf(prefix, "").run.length;
      const pages = client.scanStream({ match: pattern, count: SCANNED, type: "hash" });
      for await (const names of pages as AsyncIterable<string[]>)
        for (const name of names) if ((await client.hget(name, "owner")) === owner) yield name.slice(start);
    },
    async forget(owner: string): Promise<void> {
      const of = `${prefix}:owner:${owner}`;
      const names = [`${of}:kept`, `${of}:kept:bytes`, `${of}:active`];
      await client.multi().hdel(`${prefix}:turns:last`, owner).del(names).exec();
    },
  };
}

/** The channels of a worker's notices: one for assigned runs, one for replies to them. */
export function channelsOf(prefix: string, worker: string): { runs: string; inbox: string } {
  const base = `${prefix}:worker:${worker}`;
  return { runs: `${base}:runs`, inbox: `${base}:inbox` };
}

/** Parses a notice from the channel of runs. */
export function givenRun(notice: string) {
  const [id = "", attempt, waitedMs, isTold, payload = ""] = notice.split("\n");
  return { id, attempt: Number(attempt), waitedMs: Number(waitedMs), isTold: isTold === "1", payload };
}

/** The key that holds the worker with a session's kept guest. `undefined` when no guest is kept for a later run. */
function warmSession(prefix: string, { owner, options }: QueuedRun): string | undefined {
  const { session, singleUse } = options;
  if (session === undefined || singleUse === true) return undefined;
  const digest = createHash("sha256").update(JSON.stringify([owner ?? null, session]));
  return `${prefix}:warm:${digest.digest("base64url")}`;
}
