import type { Agent } from "@cem/core";
import { createAgent } from "code-execution-mcp";
import type { SharedOptions } from "./command-options.ts";
import { configSourceOf } from "./config-overrides.ts";

/** Gives work an agent as the options want it, and frees everything when the work is done or has failed. */
export async function withAgent<T>(options: SharedOptions, work: (agent: Agent) => Promise<T>): Promise<T> {
  const agent = createAgent(configSourceOf(options));
  try {
    return await work(agent);
  } finally {
    await agent.dispose();
  }
}
