import { once } from "node:events";
import { CemError } from "@cem/core";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { configSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";

/** `cem worker`: takes runs from the queue until it is stopped, then finishes those under way. */
export async function work(
  { port, options }: InvocationOf<"worker">,
  { signal }: CommandContext,
): Promise<Answer> {
  if (options.json) {
    throw new CemError("USAGE", "cem worker prints no answer. Its log has one JSON object a line.");
  }
  const { runWorker } = await import("code-execution-mcp");
  const running = await runWorker({ ...configSourceOf(options), port });
  if (!signal.aborted) await once(signal, "abort");
  await running.close();
  return { exitCode: EXIT_OK, data: {}, report: () => [], brief: () => "" };
}
