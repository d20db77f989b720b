import * as z from "zod/mini";
import { oneOf } from "./risk.ts";
import { flag, harmless, limit, setting, text, whole, withDefault } from "./setting.ts";

const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

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

export const loggingSettings = {
  level: setting(logLevel, "Minimum severity that is logged, in upper or lower case.", {
    variables: ["LOG_LEVEL", "AGENTKERNEL_LOG_LEVEL"],
    allowed: LOG_LEVELS.join(", "),
    isStricter: oneOf("INFO", "WARNING"),
  }),
  file: setting(
    z.optional(text),
    "File of the log. Default: standard error, where the command shows it with --verbose.",
    { variables: ["LOG_FILE"], path: true },
  ),
  auditFile: setting(
    z.optional(text),
    "File of the audit log: a line for each run, verdict, call, approval and refusal, without values. cem audit verify checks it. Default: none is kept.",
    { path: true },
  ),
};

const MAX_MB = 1_048_576;
const MAX_DAYS = 36_500;

export const runSettings = {
  records: harmless(
    flag(true),
    "Whether runs of cem and of servers are recorded, for cem runs and the console. Personal data and secrets are tokens in records.",
  ),
  dir: setting(
    withDefault(text, ".cem/runs"),
    "Folder of the records where store.url names no store; those of a workspace that has an owner are with it. Code in the sandbox must not reach it.",
    { path: true },
  ),
  keepCalls: harmless(
    flag(true),
    "Whether arguments and results of calls are recorded, to run code again with them. false: their sizes only.",
  ),
  maxMb: limit(withDefault(whole(1, MAX_MB), 64), "Size of all records, in MiB."),
  maxDays: limit(
    withDefault(whole(1, MAX_DAYS), 30),
    "Days that a record is kept, and a workflow's run that has ended.",
  ),
};
