import type { Agent } from "@cem/core";
import type { AgentOptions, OwnWorkflows } from "code-execution-mcp";
import { askingOf } from "../ask/terminal-questions.ts";
import type { SharedOptions } from "../command/options.ts";
import { serverSourceOf } from "./config-source.ts";
import type { CommandContext } from "../io/command-context.ts";
import { settleTrust } from "./settle-trust.ts";

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
    ...askingOf(context),
  });
  try {
    return await work(agent);
  } finally {
    await agent.dispose();
  }
}

/** Gives work an executor of workflows, and frees everything when the work is done or has failed. */
export async function withWorkflows<T>(
  options: SharedOptions,
  context: CommandContext,
  work: (workflows: OwnWorkflows) => Promise<T>,
): Promise<T> {
  await settleTrust(options, context);
  const { openWorkflows } = await import("code-execution-mcp");
  const { signal: _signal, ...source } = serverSourceOf(options, context);
  const workflows = await openWorkflows({ ...source, ...askingOf(context) });
  try {
    return await work(workflows);
  } finally {
    await workflows.dispose();
  }
}
