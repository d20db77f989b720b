import type { Elicit } from "@cem/core";
import { databasesOf, filesNamedIn } from "./data-sources.ts";
import { programThatReads } from "./data-program.ts";
import { invokerOfRun } from "./execution.ts";
import { findOthers } from "./offer.ts";
import type { RunContext } from "./run-context.ts";
import type { Offered } from "./selection.ts";

const TIMEOUT_MS = 3_000;
const MAX_CALLS = 30;
/** A database is told of where one of its tools is among so many that are closest to the task. */
const CLOSEST_TOOLS = 5;

const askNobody: Elicit = async () => ({ action: "cancel" });

/**
 * Reads what a model should know of the data that a task is about: the columns of tables beside a tool that queries them, and how
 * the files of the workspace begin that the task names. A program in the sandbox reads them, so that nothing is read that the
 * task's own code could not. Only tools that say they change nothing are called, and nobody is asked anything.
 *
 * @returns `undefined` for a generator that asks no model, where the settings forbid it, and where there is nothing to tell.
 */
export async function readDataFacts(
  context: RunContext,
  task: string,
  { selection, others }: Offered,
): Promise<string | undefined> {
  const { options, signal, stages } = context;
  if (stages.settings.dataFacts !== true) return undefined;
  const { toolBudget } = await stages.generator.get();
  if (toolBudget === undefined) return undefined;
  const selected = selection.selected.map(({ tool }) => tool);
  const offered = [...selected, ...others];
  const found = await findOthers(context, task, { offered: [], tools: offered }, CLOSEST_TOOLS);
  const needed = new Set([...selected, ...found.map(({ tool }) => tool)].map(({ module }) => module));
  const databases = databasesOf(offered.filter(({ module }) => needed.has(module)));
  const files = filesNamedIn(task);
  if (databases.length + files.length === 0) return undefined;
  const sandbox = await stages.sandbox.get();
  const outcome = await sandbox.run({
    code: programThatReads(databases, files),
    invoker: await invokerOfRun(context, askNobody),
    limits: { timeoutMs: TIMEOUT_MS, calls: MAX_CALLS },
    allowedTools: options.allowedTools,
    session: options.session,
    singleUse: options.singleUse,
    signal,
  });
  if (outcome.status !== "completed" || typeof outcome.value !== "string") return undefined;
  return outcome.value === "" ? undefined : outcome.value;
}
