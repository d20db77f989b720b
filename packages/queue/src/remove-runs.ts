import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import type { Job } from "bullmq";
import { KEEP_GONE_MS, namesOf } from "./connection.ts";
import type { JobData, Opened } from "./run-queue.ts";
import type { RunMessage } from "./protocol.ts";

/** In the order in which runs pass through them, so that none passes by unseen. */
const STATES = ["waiting", "prioritized", "delayed", "active", "completed", "failed"] as const;
const PAGE = 500;
/** How long runs under way may take to end. What takes longer is removed by the worker that ends it. */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Says nothing of who it was. */
const GONE = new CemError(
  "OWNER_GONE",
  "The owner was deleted while the run waited for a worker. Nothing was run.",
);

/** Removes all runs of an owner who was deleted, and all that is kept of them. */
export async function removeRunsOf(opened: Opened, prefix: string, owner: string): Promise<void> {
  const until = performance.now() + WAIT_MS;
  let found: Job<JobData>[];
  do {
    found = await runsOf(opened, owner);
    for (const job of found) await removeRun(opened, prefix, job);
    if (found.length > 0) await sleep(LOOK_AGAIN_MS);
  } while (found.length > 0 && performance.now() < until);
  await opened.turns.forget(owner);
}

async function runsOf({ queue }: Opened, owner: string): Promise<Job<JobData>[]> {
  const found: Job<JobData>[] = [];
  for (const state of STATES) {
    for (let from = 0; ; from += PAGE) {
      const page = await queue.getJobs([state], from, from + PAGE - 1);
      // One that ends meanwhile may be missing.
      found.push(...page.filter((job: Job<JobData> | undefined) => job?.data.owner === owner));
      if (page.length < PAGE) break;
    }
  }
  return found;
}

async function removeRun({ client, streams }: Opened, prefix: string, job: Job<JobData>): Promise<void> {
  const { messages, replies, attempt } = namesOf(prefix, job.id ?? "");
  const isWaited = job.finishedOn === undefined;
  try {
    await job.remove();
  } catch {
    // A worker holds it, and ends it.
    return;
  }
  await client.del(replies, attempt);
  if (!isWaited) return void (await client.del(messages));
  // Emptied rather than removed: who follows it goes on from where it was.
  await client.xtrim(messages, "MAXLEN", 0);
  const content: RunMessage = { type: "failed", error: toErrorInfo(GONE) };
  await streams.append(messages, { contents: [content], keepMs: KEEP_GONE_MS });
}
