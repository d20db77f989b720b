import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { runAgent } from "../dry-run.ts";
import { readInput, requireIntact, requireText } from "../input.ts";

/** `cem run`: a task in plain words, from its argument or stdin. */
export async function runTask(
  { task, options }: InvocationOf<"run">,
  context: CommandContext,
): Promise<Answer> {
  const text = task === "-" ? await readInput("-", "task", context) : task;
  requireText(text, "task", "the argument");
  requireIntact(text, "task");
  return runAgent({ kind: "task", task: text }, options, context);
}
