import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { runAgent } from "../dry-run.ts";
import type { InvocationOf } from "../invocation.ts";

/** `cem call`: one call of one tool. */
export async function callTool(
  { target, args, options }: InvocationOf<"call">,
  context: CommandContext,
): Promise<Answer> {
  return runAgent({ kind: "call", target, args }, options, context);
}
