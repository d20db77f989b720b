import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { readInput, requireIntact, requireText } from "../input.ts";
import { answerToResult } from "../result-answer.ts";
import { createRunProgress } from "../run-progress.ts";
import { withAgent } from "../with-agent.ts";
import type { CommandContext } from "./index.ts";

type RunInvocation = Extract<Invocation, { command: "run" }>;

/** `cem run`: a task in plain words, from its argument or stdin. */
export async function runTask(
  { task, options }: RunInvocation,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const text = task === "-" ? await readInput("-", "task", signal) : task;
  requireText(text, "task", "the argument");
  requireIntact(text, "task");
  return withAgent(options, async (agent) => {
    const onEvent = live && createRunProgress(live, options);
    const result = await agent.executeTask(text, { signal, ...(onEvent && { onEvent }) });
    return answerToResult(result, options);
  });
}
