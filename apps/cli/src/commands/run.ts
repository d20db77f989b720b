import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { readInput, requireIntact, requireText } from "../input.ts";
import { executeOptions } from "../execute-options.ts";
import { answerToResult } from "../result-answer.ts";
import { withAgent } from "../with-agent.ts";

/** `cem run`: a task in plain words, from its argument or stdin. */
export async function runTask(
  { task, options }: InvocationOf<"run">,
  context: CommandContext,
): Promise<Answer> {
  const text = task === "-" ? await readInput("-", "task", context) : task;
  requireText(text, "task", "the argument");
  requireIntact(text, "task");
  return withAgent(options, context, async (agent) => {
    const result = await agent.executeTask(text, executeOptions(context, options));
    return answerToResult(result, options);
  });
}
