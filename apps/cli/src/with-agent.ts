import type { Agent } from "@cem/core";
import type { SharedOptions } from "./command-options.ts";
import { createTerminalQuestions } from "./terminal-questions.ts";
import { configSourceOf } from "./config-overrides.ts";
import { logOption } from "./log-option.ts";

/** Gives work an agent as the options want it, and frees everything when the work is done or has failed. */
export async function withAgent<T>(options: SharedOptions, work: (agent: Agent) => Promise<T>): Promise<T> {
  // Loaded here: what is wrong with the arguments is said before this is needed.
  const { createAgent } = await import("code-execution-mcp");
  const { record, replay } = options;
  const onElicit = createTerminalQuestions();
  const agent = createAgent({
    ...configSourceOf(options),
    ...logOption(options),
    oneRun: true,
    ...(record === undefined ? {} : { recordFile: record }),
    ...(replay === undefined ? {} : { replayFile: replay }),
    ...(onElicit === undefined ? {} : { onElicit }),
  });
  try {
    return await work(agent);
  } finally {
    await agent.dispose();
  }
}
