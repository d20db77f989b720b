import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { readInput } from "../input.ts";
import { answerToResult } from "../result-answer.ts";
import { createRunProgress } from "../run-progress.ts";
import { withAgent } from "../with-agent.ts";
import type { CommandContext } from "./index.ts";

type ExecInvocation = Extract<Invocation, { command: "exec" }>;

/** `cem exec`: TypeScript that the user brings, from a file or stdin. */
export async function runFile(
  { file, options }: ExecInvocation,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const code = await readInput(file, "code", signal);
  return withAgent(options, async (agent) => {
    const onEvent = live && createRunProgress(live, options);
    const result = await agent.executeCode(code, { signal, ...(onEvent && { onEvent }) });
    return answerToResult(result, options);
  });
}
