import type { Agent } from "@cem/core";
import { asOwner } from "../../work-threads/work-threads.ts";

/** An agent, and how many requests it has under way. */
export interface CountedAgent {
  agent: Agent;
  readonly busy: number;
  /** When the last request began or ended, on the clock of `performance.now()`. */
  readonly used: number;
}

/**
 * Counts the requests of an agent, so that an idle agent can be distinguished from a busy one.
 *
 * @param owner - Quota key that they are for.
 */
export function countRequests(inner: Agent, owner: string): CountedAgent {
  let [busy, used] = [0, performance.now()];
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    busy += 1;
    used = performance.now();
    try {
      return await asOwner(owner, work);
    } finally {
      busy -= 1;
      used = performance.now();
    }
  };
  const agent: Agent = {
    specificationVersion: "v1",
    executeTask: (task, options) => counted(() => inner.executeTask(task, options)),
    executeCode: (code, options) => counted(() => inner.executeCode(code, options)),
    ...(inner.rejoinRun && {
      rejoinRun: (key, options) => counted(async () => inner.rejoinRun?.(key, options)),
    }),
    discoverTools: (options) => counted(() => inner.discoverTools(options)),
    searchTools: (query, options) => counted(() => inner.searchTools(query, options)),
    saveSkill: (draft, options) => counted(() => inner.saveSkill(draft, options)),
    checkpoint: (options) => counted(() => inner.checkpoint(options)),
    warm: (options) => counted(() => inner.warm(options)),
    openResults: async () => inner.openResults?.(),
    sandboxStats: () => inner.sandboxStats?.(),
    dispose: () => inner.dispose(),
  };
  return {
    agent,
    get busy() {
      return busy;
    },
    get used() {
      return used;
    },
  };
}
