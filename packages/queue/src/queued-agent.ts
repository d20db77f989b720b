import type { Agent } from "@cem/core";
import type { QueuedCustomer, RunQueue } from "./run-queue.ts";

/** An agent whose runs wait in a queue, and that asks a local agent for all else. */
export function queuedAgent(queue: RunQueue, local: Agent, whose: QueuedCustomer | undefined): Agent {
  const { id: customer, incarnation } = whose ?? {};
  return {
    specificationVersion: "v1",
    executeTask: (input, options) => queue.execute({ kind: "task", input, customer, incarnation }, options),
    executeCode: (input, options) => queue.execute({ kind: "code", input, customer, incarnation }, options),
    rejoinRun: (key, options) => queue.rejoin(key, customer, options),
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
