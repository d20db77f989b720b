import * as z from "zod/mini";
import { atMost, needsYes, oneOf } from "./risk.ts";
import { count, flag, setting, text, whole, withDefault } from "./setting.ts";

const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
const MAX_AUDIT_MB = 1_024;

const logLevel = withDefault(
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((level: string) => level.toUpperCase()),
    ),
    z.enum(LOG_LEVELS),
  ),
  "INFO",
);
z.globalRegistry.add(logLevel, { enum: [...LOG_LEVELS, ...LOG_LEVELS.map((level) => level.toLowerCase())] });

/** Settings of the log and the audit log. */
export const loggingSettings = {
  level: setting(logLevel, "Minimum severity that is logged, in upper or lower case.", {
    variables: ["LOG_LEVEL", "AGENTKERNEL_LOG_LEVEL"],
    allowed: LOG_LEVELS.join(", "),
    risk: needsYes(["reveal", "loosen"], "DEBUG logs details of runs, ERROR and CRITICAL no warnings", {
      isStricter: oneOf("INFO", "WARNING"),
    }),
  }),
  file: setting(
    z.optional(text),
    "File of the log. Default: standard error, where the command shows it with --verbose.",
    {
      variables: ["LOG_FILE"],
      path: true,
      risk: needsYes(["reach"], "the log is written there", { askedAs: "path" }),
    },
  ),
  auditFile: setting(
    z.optional(text),
    "File of the audit log: a line for each run, verdict, call, approval and refusal, without values. cem audit verify checks it. Default: none is kept.",
    { path: true, risk: needsYes(["reach"], "the audit log is written there", { askedAs: "path" }) },
  ),
  auditMaxMb: setting(
    count(MAX_AUDIT_MB, 16),
    "Size at which that file is put aside and another begun, in MiB.",
    { risk: "none" },
  ),
};

const MAX_COUNT = 1_000_000;
const MAX_MB = 1_048_576;
const MAX_DAYS = 36_500;

/** Settings of the records of runs. */
export const runSettings = {
  records: setting(
    flag(true),
    "Whether runs of cem and of servers are recorded, for cem runs and the console. Personal data and secrets are tokens in records.",
    { risk: "none" },
  ),
  dir: setting(
    withDefault(text, ".cem/runs"),
    "Folder of the records where store.url names no store; those of a workspace that has an owner are with it. Code in the sandbox must not reach it.",
    { path: true, risk: needsYes(["reach"], "records of runs are kept there", { askedAs: "path" }) },
  ),
  keepCalls: setting(
    flag(true),
    "Whether arguments and results of calls are recorded, to run code again with them. false: their sizes only.",
    { risk: "none" },
  ),
  maxCount: setting(
    withDefault(whole(1, MAX_COUNT), 1_000),
    "Runs that records are kept of. The oldest go first, a hundred at a time.",
    { risk: needsYes(["spend"], "that many runs are recorded", { isStricter: atMost }) },
  ),
  maxMb: setting(withDefault(whole(1, MAX_MB), 64), "Size of all records, in MiB.", {
    risk: needsYes(["spend"], "records may take that many MiB", { isStricter: atMost }),
  }),
  maxDays: setting(withDefault(whole(1, MAX_DAYS), 30), "Days that a record is kept.", {
    risk: needsYes(["spend"], "records are kept that many days", { isStricter: atMost }),
  }),
};
