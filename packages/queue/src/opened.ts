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
  /** Of what is to be done, so that a key is not used for two runs. */
  digest: string;
  customer?: string | undefined;
  kind: QueuedRun["kind"];
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
