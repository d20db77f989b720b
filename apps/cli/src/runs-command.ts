import { Argument, InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { addSettingOptions, wholeNumber } from "./command-options.ts";
import { RUNS } from "./help-examples.ts";
import { RUN_ACTIONS, RUN_STATUSES } from "./invocation.ts";
import type { RunAction, RunsOptions } from "./invocation.ts";

const MAX_LISTED = 100_000;
const MS_OF: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Adds `cem runs` to the program. */
export function addRunsCommand(
  add: (usage: string, description: string, example: string) => Command,
  found: (invocation: RunsOptions & { command: "runs" }, command: Command) => void,
): void {
  addSettingOptions(add("runs", "List, show and replay recorded runs", RUNS))
    .addArgument(new Argument("[action]", "what to do").choices(RUN_ACTIONS).default("list"))
    .argument("[id]", "the run: its id, or last")
    .addOption(new Option("--status <status>", "for list: how they ended").choices(RUN_STATUSES))
    .option("--since <time>", "for list: 30m, 2h, 3d, or a date such as 2026-11-22", since)
    .option("--text <text>", "for list: a text in the task, code, tools or error")
    .option("--max <count>", "the most runs to list", wholeNumber(1, MAX_LISTED), 20)
    .option("--recorded", "for replay: answer calls as they were answered", false)
    .action(
      (
        action: RunAction,
        id: string | undefined,
        own: Omit<RunsOptions, "action" | "id">,
        command: Command,
      ) => {
        const { status, since: from, text, max, recorded } = own;
        found({ command: "runs", action, id, status, since: from, text, max, recorded }, command);
      },
    );
}

function since(written: string): Date {
  const [, number, unit = ""] = /^(\d{1,6})([mhd])$/u.exec(written) ?? [];
  const date =
    number === undefined
      ? new Date(/^\d{4}-\d\d-\d\d/u.test(written) ? written : Number.NaN)
      : new Date(Date.now() - Number(number) * (MS_OF[unit] ?? 0));
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError("It is a time before now (30m, 2h, 3d) or a date such as 2026-11-22.");
  return date;
}
