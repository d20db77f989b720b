import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { readInput } from "../input.ts";
import { executeOptions } from "../execute-options.ts";
import { answerToResult } from "../result-answer.ts";
import { withAgent } from "../with-agent.ts";

/** `cem exec`: TypeScript that the user brings, from a file or stdin. */
export async function runFile(
  { file, options }: InvocationOf<"exec">,
  context: CommandContext,
): Promise<Answer> {
  const code = await readInput(file, "code", context);
  return withAgent(options, context, async (agent) => {
    const result = await agent.executeCode(code, executeOptions(context, options));
    return answerToResult(result, options);
  });
}
