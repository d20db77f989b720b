import type { AgentEvent, Stage } from "@cem/core";
import { toolId } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { MIN_PROGRESS_INTERVAL_MS } from "./limits.ts";

const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  discover: "Looking at the tools",
  select: "Choosing tools",
  generate: "Writing code",
  review: "Reviewing the code",
  run: "Running the code",
};

/** Tells the client of each stage and tool call, when it asked for progress. */
export function progressListener({ mcpReq }: ServerContext): ((event: AgentEvent) => void) | undefined {
  const { _meta: { progressToken } = {} } = mcpReq;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  let told = 0;
  const tell = (message: string): void => {
    told = performance.now();
    // A client that went away is noticed elsewhere.
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch(() => {});
  };
  return (event) => {
    if (event.type === "stage-started") {
      progress += 1;
      tell(STAGE_WORDS[event.stage]);
    } else if (event.type === "tool-called") {
      progress += 1;
      if (performance.now() - told < MIN_PROGRESS_INTERVAL_MS && progress > FIRST_EVENTS) return;
      const { server, tool, ms, ok } = event.call;
      tell(`${toolId({ server, name: tool })} ${ok ? "answered" : "failed"} after ${Math.round(ms)} ms`);
    }
  };
}

/** So many are told however quick they come. */
const FIRST_EVENTS = 20;
