import type { Agent } from "@cem/core";
import type { AgentOptions } from "code-execution-mcp";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { serverSourceOf } from "./config-source.ts";
import { approveOf } from "./approve-in-terminal.ts";
import { elicitOf } from "./elicit-in-terminal.ts";
import { createTurns } from "./prompt.ts";
import type { Asking } from "./warm/warm-client.ts";

/** Gives work an agent as the options want it, and frees everything when the work is done or has failed. */
export async function withAgent<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (agent: Agent) => Promise<T>,
  {
    asksForTrust = true,
    ...agentOptions
  }: { asksForTrust?: boolean } & Pick<
    AgentOptions,
    "onPlannedWrite" | "approvedWrites" | "resume" | "replay"
  > = {},
): Promise<T> {
  // Loaded here: what is wrong with the arguments is said before these are needed.
  const { settleTrust } = await import("./settle-trust.ts");
  await settleTrust(options, context, asksForTrust);
  const { createAgent } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const agent = createAgent({
    ...source,
    ...agentOptions,
    oneRun: true,
    records: true,
    recordFile: options.record,
    replayFile: options.replay,
    ...askingOf(context),
  });
  try {
    return await work(agent);
  } finally {
    await agent.dispose();
  }
}

/** Asks at the terminal, one question at a time. */
export function askingOf(context: CommandContext): Asking {
  const turns = createTurns();
  return { onElicit: elicitOf(context, turns), onApprove: approveOf(context, turns) };
}
