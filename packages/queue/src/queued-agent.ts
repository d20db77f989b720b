import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import type { QueuedRun } from "./protocol.ts";

/** Has a run carried out. */
type Execute = (run: Pick<QueuedRun, "kind" | "input">, options?: ExecuteOptions) => Promise<TaskResult>;

/** An agent whose runs wait in a queue, and that asks a local agent for all else. */
export function queuedAgent(execute: Execute, local: Agent): Agent {
  return {
    specificationVersion: "v1",
    executeTask: (input, options) => execute({ kind: "task", input }, options),
    executeCode: (input, options) => execute({ kind: "code", input }, options),
    discoverTools: (options) => local.discoverTools(options),
    searchTools: (query, options) => local.searchTools(query, options),
    saveSkill: (draft, options) => local.saveSkill(draft, options),
    checkpoint: (options) => local.checkpoint(options),
    // No guest is opened here: what is asked here is the catalog.
    warm: async (options) => void (await local.discoverTools(options)),
    openResults: async () => local.openResults?.(),
    sandboxStats: () => local.sandboxStats?.(),
    dispose: () => local.dispose(),
  };
}
