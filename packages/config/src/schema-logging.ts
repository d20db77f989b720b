import * as z from "zod/mini";
import { count, flag, setting, text, withDefault } from "./setting.ts";
import { needsYes, oneOf } from "./risk.ts";

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
  auditStore: setting(
    flag(false),
    "Keep the audit log of all machines in store.url, as one chain. It grows without end.",
    {
      risk: needsYes(["spend"], "the audit log grows without end in the store", { isStricter: oneOf(false) }),
    },
  ),
};
