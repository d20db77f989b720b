import * as z from "zod/mini";
import { secretText, setting, settingTraits } from "./setting.ts";
import { needsYes } from "./risk.ts";

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
    "Where machines share values of persons, quotas, approvals and the audit log: redis:// or rediss:// of Redis 7 or Valkey, postgres:// of PostgreSQL 13 or newer, or a folder for the processes of one machine. Unset: each keeps its own in files.",
    {
      variables: ["CEM_STORE_URL"],
      path: (url) => !isServerUrl(url),
      risk: needsYes(["reach", "reveal"], "values, quotas, approvals and the audit log are shared there"),
    },
  ),
  files: setting(
    z.optional(filesPlace),
    "Where machines share the files of workspaces, so that each run finds those of the last one: s3://bucket/prefix?endpoint=https://host:port&region=name of S3-compatible storage, with the usual AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or store, for small ones, in store.url, which is needed in any case. Unset: each machine has its own, or all reach one disk.",
    {
      variables: ["CEM_STORE_FILES"],
      risk: needsYes(["reach", "reveal"], "files of workspaces are shared there, with your AWS credentials"),
    },
  ),
  keys: setting(
    z.optional(secretText),
    "Keys that seal what is in the store and what passes through the queue: name:base64 with 32 bytes each, separated by commas. The first one seals, all open. All machines need the same.",
    {
      variables: ["CEM_STORE_KEYS"],
      secret: true,
      risk: needsYes(["reveal"], "what is shared is encrypted with keys that this folder has"),
    },
  ),
};

/** Whether a `store.url` is of a server, not the path of a folder. */
export function isServerUrl(url: string): boolean {
  return SERVER_URL.test(url) && URL.canParse(url);
}
