import * as z from "zod/mini";
import { OWNER_ID_RULE, GIVEN_OWNER_ID } from "@cem/core";
import { oneOf } from "./risk.ts";
import {
  addressRange,
  choice,
  described,
  flag,
  harmless,
  httpUrl,
  limit,
  number,
  optional,
  secretText,
  setting,
  settingTraits,
  text,
  unique,
  whole,
  withDefault,
} from "./setting.ts";

const MAX_PORT = 65_535;
const MAX_HOUR_SECONDS = 3_600;
const MAX_DAY_SECONDS = 86_400;

export const serverSettings = {
  profile: harmless(
    choice(["full", "code", "original"], "full"),
    "Which tools clients see. full: all. code: execute_code, search_tools and read_result. original: the seven of the original.",
  ),
  expose: setting(
    withDefault(z.array(z.enum(["resources", "prompts"])), []),
    "What clients see of mcp_servers besides tools, under the servers' names: resources, prompts. Listing them starts the servers.",
  ),
  host: setting(
    withDefault(text, "127.0.0.1"),
    "Address that http and sse listen on. Addresses that other machines can reach need auth_token or auth_issuer.",
    { variables: ["CEM_SERVER_HOST"], isStricter: oneOf("127.0.0.1", "localhost", "::1") },
  ),
  port: setting(
    withDefault(whole(0, MAX_PORT), 3_000),
    "Port that http and sse listen on. 0: any that is free.",
    { variables: ["CEM_SERVER_PORT"] },
  ),
  yieldAfter: harmless(
    withDefault(number(0.1, MAX_HOUR_SECONDS), 45),
    "Seconds after which a call returns the id of its run, which continues.",
  ),
  shutdownGrace: harmless(
    withDefault(number(0, MAX_HOUR_SECONDS), 10),
    "Seconds that pending calls have to finish when the server is stopped.",
  ),
  console: harmless(
    flag(true),
    "Over http: the console for people at /console, and the REST API below /api/v1 that it uses.",
  ),
  clientTrace: harmless(
    choice(["auto", "join", "link"], "auto"),
    "With an OpenTelemetry SDK: spans go on in the trace that a client names (join), or in one of their own that links to it (link). auto: link where there are customers, else join.",
  ),
  publicUrl: setting(
    z.optional(httpUrl),
    "URL of the server for clients, where it differs from the address. It is the resource in OAuth.",
  ),
  trustedProxies: setting(
    withDefault(z.array(addressRange), []),
    "Addresses and ranges of proxies, such as 10.0.0.0/8: clients behind them are told apart by X-Forwarded-For or Forwarded.",
  ),
  allowedHosts: setting(
    withDefault(z.array(text), []),
    "Host names allowed in the Host header, besides loopback and those of host and public_url.",
  ),
  allowedOrigins: setting(
    withDefault(z.array(text), []),
    "Host names allowed in the Origin header, besides loopback.",
  ),
  authToken: setting(
    z.optional(secretText),
    "Bearer token that clients must send. Better set in the environment.",
    { variables: ["CEM_SERVER_TOKEN"] },
  ),
  authIssuer: setting(z.optional(httpUrl), "OAuth: issuer of the access tokens."),
  authAudience: setting(
    z.optional(text),
    "OAuth: audience that tokens must have. Default: the server's public URL.",
  ),
  authJwksUrl: setting(
    z.optional(httpUrl),
    "OAuth: URL of the issuer's key set. Default: from the issuer's metadata.",
  ),
  sharedWorkspace: setting(
    flag(false),
    "OAuth: all clients share one workspace, with its files, state and results. Without it each client is a customer with a workspace of its own.",
    { isStricter: oneOf(false) },
  ),
  authScopes: harmless(withDefault(z.array(text), []), "OAuth: scopes that a token must have."),
};

const MAX_QUOTA_RUNS = 1_000_000_000;
const MAX_QUOTA_SECONDS = 1_000_000_000;

const customerId = z
  .string()
  .check(z.regex(GIVEN_OWNER_ID, `is not a customer's id, which needs ${OWNER_ID_RULE}`));

const quota = z
  .strictObject({
    per: described(z.enum(["minute", "hour", "day", "week"]), "The time that it is for."),
    runs: optional(
      whole(1, MAX_QUOTA_RUNS),
      "Most runs of code, repaired ones and tests of skills among them.",
    ),
    seconds: optional(
      number(0.1, MAX_QUOTA_SECONDS),
      "Most seconds that code runs, without those in which a person is asked.",
    ),
  })
  .check(
    z.refine(({ runs, seconds }) => runs !== undefined || seconds !== undefined, "needs runs or seconds"),
  );

export const customerSettings = {
  dir: setting(withDefault(text, "./workspaces"), "Folder with one folder for each customer.", {
    path: true,
  }),
  id: setting(
    z.optional(customerId),
    "The customer that every run of this process belongs to. Unset: the server asks each request; everything else has one workspace.",
  ),
  claim: setting(
    z.optional(text),
    "Claim of the access token that names the customer. Default: issuer, client and subject together.",
  ),
  header: setting(z.optional(text), "Header in which a proxy of server.trusted_proxies names the customer."),
  quotas: harmless(
    withDefault(
      z.array(quota).check(
        unique(
          ({ per }) => per,
          (per) => `There is a quota per ${per} already.`,
          "per",
        ),
      ),
      [],
    ),
    "What each customer may use: a list of {per, runs, seconds}, such as {per: hour, runs: 100, seconds: 600}. All of them hold.",
  ),
  maxOpen: limit(
    withDefault(whole(1, 10_000), 50),
    "Customers who have guests and connections at once. Requests of others are refused until one of them is idle.",
  ),
  idle: limit(
    withDefault(number(1, MAX_DAY_SECONDS), 300),
    "Seconds after which the guests and connections of a customer who does nothing are let go.",
  ),
};

const MAX_WAITING = 1_000_000;
const MAX_CONCURRENCY = 1_000;

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
    withDefault(number(1, MAX_HOUR_SECONDS), 8),
    "Seconds without a sign of life after which a worker's runs are given to another.",
  ),
  drainGrace: harmless(
    withDefault(number(0, MAX_DAY_SECONDS), 20),
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
