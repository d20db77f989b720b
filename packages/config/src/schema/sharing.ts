import * as z from "zod/mini";
import {
  harmless,
  limit,
  number,
  secretText,
  setting,
  settingTraits,
  text,
  whole,
  withDefault,
} from "./setting.ts";

const MAX_PORT = 65_535;
const MAX_WAITING = 1_000_000;
const MAX_CONCURRENCY = 1_000;
const MAX_LOST_AFTER_SECONDS = 3_600;
const MAX_DRAIN_SECONDS = 86_400;

const redisUrl = z
  .string()
  .check(z.regex(/^rediss?:\/\/[^\s/]+/, "is not a URL that begins with redis:// or rediss://"));
settingTraits.add(redisUrl, { allowed: "a URL that begins with redis:// or rediss://" });

/** Settings of the queue that `cem worker` takes runs from. */
export const queueSettings = {
  url: setting(
    z.optional(redisUrl),
    "URL of Redis 7 or Valkey: redis://127.0.0.1:6379/0. The runs of cem serve wait there for cem worker. Unset: the server carries them out itself.",
    { variables: ["CEM_QUEUE_URL"] },
  ),
  prefix: setting(
    withDefault(text, "{cem}"),
    "What the names of the queue begin with. Braces keep them on one node of a cluster.",
  ),
  maxWaiting: limit(
    withDefault(whole(1, MAX_WAITING), 10_000),
    "Runs that may wait for a worker; a customer's may be as many as leave room for others. More are refused, with the time after which to try again.",
  ),
  concurrency: limit(
    withDefault(whole(1, MAX_CONCURRENCY), 4),
    "Runs that one worker executes at once, at most customers.max_open. Those that wait for an answer to a question don't count, up to four times as many.",
  ),
  lostAfter: harmless(
    withDefault(number(1, MAX_LOST_AFTER_SECONDS), 8),
    "Seconds without a sign of life after which a worker's runs are given to another.",
  ),
  drainGrace: harmless(
    withDefault(number(0, MAX_DRAIN_SECONDS), 20),
    "Seconds that runs have to finish when cem worker is stopped: less than an orchestrator waits before it kills. Then they go to another worker, or end as interrupted where they called what is not to be repeated.",
    ["CEM_DRAIN_GRACE"],
  ),
  workerPort: setting(
    z.optional(whole(0, MAX_PORT)),
    "Port on server.host where cem worker answers /healthz, /readyz and /metrics; 0 for any that is free. Default: it answers none.",
    { variables: ["CEM_WORKER_PORT"] },
  ),
};

const SERVER_URL = /^(?:rediss?|postgres(?:ql)?):\/\/[^\s/]+/;
const ANY_URL = /^[a-z][a-z\d+.-]*:\/\//i;

const ALLOWED =
  "a URL that begins with redis://, rediss://, postgres:// or postgresql://, or the path of a folder";
const place = z.string().check(
  z.minLength(1),
  z.refine((text) => !ANY_URL.test(text) || isServerUrl(text), `is not ${ALLOWED}`),
);
settingTraits.add(place, { allowed: ALLOWED });

const FILES_ALLOWED = "store, or a URL of the form s3://bucket/prefix?endpoint=https://host:port";
const filesPlace = z
  .string()
  .check(z.regex(/^(?:store|s3:\/\/[a-z\d][a-z\d.-]{1,61}[a-z\d](?:[/?]\S*)?)$/, `is not ${FILES_ALLOWED}`));
settingTraits.add(filesPlace, { allowed: FILES_ALLOWED });

/** Settings of what several machines share. */
export const storeSettings = {
  url: setting(
    z.optional(place),
    "Where machines share personal data, quotas, rate limits and records of runs: redis:// or rediss:// of Redis 7 or Valkey, postgres:// of PostgreSQL 13 or newer, or a folder for the processes of one machine. Unset: each keeps its own in files.",
    { variables: ["CEM_STORE_URL"], path: (url) => !isServerUrl(url) },
  ),
  files: setting(
    z.optional(filesPlace),
    "Where machines share the files of workspaces, so that each run finds those of the last one: s3://bucket/prefix?endpoint=https://host:port&region=name of S3-compatible storage, with the usual AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or store, for small ones, in store.url, which is needed in any case. Unset: each machine has its own, or all reach one disk.",
    { variables: ["CEM_STORE_FILES"] },
  ),
  keys: setting(
    z.optional(secretText),
    "Keys that seal what is in the store and what passes through the queue: name:base64 with 32 bytes each, separated by commas. The first one seals, all open. All machines need the same.",
    { variables: ["CEM_STORE_KEYS"] },
  ),
};

/** Whether a `store.url` is the URL of a server, not the path of a folder. */
export function isServerUrl(url: string): boolean {
  return SERVER_URL.test(url) && URL.canParse(url);
}
