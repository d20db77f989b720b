import { flag, setting, text, whole, withDefault } from "./setting.ts";
import { atMost, needsYes } from "./risk.ts";

const MAX_COUNT = 1_000_000;
const MAX_MB = 1_048_576;
const MAX_DAYS = 36_500;

/** Settings of the records of runs. */
export const runSettings = {
  records: setting(
    flag(true),
    "Whether runs of cem and of servers are recorded, for cem runs and the console. Values of persons and secrets are tokens in records.",
    { risk: "none" },
  ),
  dir: setting(
    withDefault(text, ".cem/runs"),
    "Folder of the records where store.url names no store. A customer's are with the customer. Code in the sandbox must not reach it.",
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
