import * as z from "zod/mini";
import { number, setting, settingTraits, text, whole, withDefault } from "./setting.ts";
import { atMost, needsYes } from "./risk.ts";

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
    {
      variables: ["CEM_QUEUE_URL"],
      risk: needsYes(
        ["reach", "reveal"],
        "runs with their code and values go there, and what waits there is run",
      ),
    },
  ),
  prefix: setting(
    withDefault(text, "{cem}"),
    "What the names of the queue begin with. Braces keep them on one node of a cluster.",
    { risk: needsYes(["reach"], "runs are taken from and given to the queue of that name") },
  ),
  maxWaiting: setting(
    withDefault(whole(1, MAX_WAITING), 10_000),
    "Runs that may wait for a worker; a customer's may be as many as leave room for others. More are refused, with the time after which to try again.",
    { risk: needsYes(["spend"], "that many runs may wait", { isStricter: atMost }) },
  ),
  concurrency: setting(
    withDefault(whole(1, MAX_CONCURRENCY), 4),
    "Runs that one worker carries out at once, at most customers.max_open.",
    { risk: needsYes(["spend"], "a worker carries out that many runs at once", { isStricter: atMost }) },
  ),
  lostAfter: setting(
    withDefault(number(1, MAX_LOST_AFTER_SECONDS), 30),
    "Seconds without a sign of life after which a worker's runs are given to another.",
    { risk: "none" },
  ),
  drainGrace: setting(
    withDefault(number(0, MAX_DRAIN_SECONDS), 20),
    "Seconds that runs have to finish when cem worker is stopped: less than an orchestrator waits before it kills. Then they go to another worker, or end as interrupted where they called what is not to be repeated.",
    { risk: "none" },
  ),
  workerPort: setting(
    z.optional(whole(0, MAX_PORT)),
    "Port on server.host where cem worker answers /healthz and /readyz; 0 for any that is free. Default: it answers none.",
    { variables: ["CEM_WORKER_PORT"], risk: needsYes(["reach"], "a worker listens on that port") },
  ),
};
