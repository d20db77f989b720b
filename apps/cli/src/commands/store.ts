import { resealSharedStore } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderRow } from "../render-rows.ts";
import { counted } from "../text-layout.ts";

/** `cem store reseal`: seals all values in the store with the newest key. */
export async function resealStore(
  { options }: InvocationOf<"store">,
  context: CommandContext,
): Promise<Answer> {
  const { location, key, resealed } = await resealSharedStore(serverSourceOf(options, context));
  return {
    exitCode: EXIT_OK,
    data: { status: "success", location, key, resealed },
    report: (style) => [
      "",
      ...renderRow("store", location, style),
      ...renderRow("key", key, style),
      ...renderRow("sealed anew", counted(resealed, "value"), style),
    ],
    brief: () => String(resealed),
  };
}
