import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { readInput, requireIntact, requireText } from "../input.ts";
import { executeOptions } from "../execute-options.ts";
import { answerToResult } from "../result-answer.ts";
import { withAgent } from "../with-agent.ts";
import type { CommandContext } from "./index.ts";

type RunInvocation = Extract<Invocation, { command: "run" }>;

/** `cem run`: a task in plain words, from its argument or stdin. */
export async function runTask({ task, options }: RunInvocation, context: CommandContext): Promise<Answer> {
  const text = task === "-" ? await readInput("-", "task", context.signal) : task;
  requireText(text, "task", "the argument");
  requireIntact(text, "task");
  return withAgent(options, async (agent) => {
    const result = await agent.executeTask(text, executeOptions(context, options));
    return answerToResult(result, options);
  });
}
