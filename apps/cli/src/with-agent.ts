import type { Agent } from "@cem/core";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { serverSourceOf } from "./config-source.ts";
import { settleTrust } from "./settle-trust.ts";
import { elicitOf } from "./elicit-in-terminal.ts";

/** Gives work an agent as the options want it, and frees everything when the work is done or has failed. */
export async function withAgent<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (agent: Agent) => Promise<T>,
  { asksForTrust = true, resume }: { asksForTrust?: boolean; resume?: string | undefined } = {},
): Promise<T> {
  await settleTrust(options, context, asksForTrust);
  // Loaded here: what is wrong with the arguments is said before this is needed.
  const { createAgent } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const agent = createAgent({
    ...source,
    oneRun: true,
    resume,
    recordFile: options.record,
    replayFile: options.replay,
    onElicit: elicitOf(context),
  });
  try {
    return await work(agent);
  } finally {
    await agent.dispose();
  }
}
