import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { runAgent } from "../dry-run.ts";
import { readInput } from "../input.ts";

/** `cem exec`: TypeScript that the user brings, from a file or stdin. */
export async function runFile(
  { file, options }: InvocationOf<"exec">,
  context: CommandContext,
): Promise<Answer> {
  const code = await readInput(file, "code", context);
  return runAgent({ kind: "code", code }, options, context);
}
