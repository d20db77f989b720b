import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Letters } from "./letters.ts";
import type { QueuedRun } from "./protocol.ts";
import type { Streams } from "./streams.ts";
import type { Throughput } from "./throughput.ts";
import type { Turns } from "./turns.ts";

/** What a job holds. */
export interface JobData {
  letter: string;
  customer?: string | undefined;
  kind: QueuedRun["kind"];
  /** Why it could not be carried out, as a letter: what the library keeps of it passes in clear and through its events. */
  reason?: string | undefined;
}

/** Where the letter with a failed run's reason belongs. */
export function placeOfReason(run: string): string {
  return `reason:${run}`;
}

/** What a host has open. */
export interface Opened {
  queue: Queue<JobData>;
  letters: Letters;
  client: Redis;
  subscriber: Redis;
  streams: Streams;
  turns: Turns;
  throughput: Throughput;
}
