import type { Answer } from "../answer.ts";
import { COMPLETION_SCRIPTS } from "../completion/scripts.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";

/** `cem completion`: the script that makes a shell complete commands, options, servers and tools. */
export async function printCompletion({ shell }: InvocationOf<"completion">): Promise<Answer> {
  const script = COMPLETION_SCRIPTS[shell];
  return {
    exitCode: EXIT_OK,
    data: { status: "success", shell, script },
    report: () => [script],
    brief: () => script,
  };
}
