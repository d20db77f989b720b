import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { readInput } from "../input.ts";
import { executeOptions } from "../execute-options.ts";
import { answerToResult } from "../result-answer.ts";
import { withAgent } from "../with-agent.ts";
import type { CommandContext } from "./index.ts";

type ExecInvocation = Extract<Invocation, { command: "exec" }>;

/** `cem exec`: TypeScript that the user brings, from a file or stdin. */
export async function runFile({ file, options }: ExecInvocation, context: CommandContext): Promise<Answer> {
  const code = await readInput(file, "code", context.signal);
  return withAgent(options, async (agent) => {
    const result = await agent.executeCode(code, executeOptions(context, options));
    return answerToResult(result, options);
  });
}
