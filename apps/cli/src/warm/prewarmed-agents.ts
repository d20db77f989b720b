import type { Agent } from "@cem/core";
import { createAgent } from "code-execution-mcp";
import { stampProject } from "code-execution-mcp/admin";
import type { ServerSource } from "code-execution-mcp/admin";

interface Spare {
  agent: Agent;
  /** What the project was when the agent was made. */
  stamp: string;
}

/**
 * Agents that are made ready before they are needed: set up, with a guest and with their servers started. Each is used for one
 * command and no other.
 */
export class SpareAgents {
  readonly #source: ServerSource;
  readonly #count: number;
  readonly #spares = new Set<Promise<Spare | undefined>>();
  #ready = 0;
  #isDisposed = false;

  /** @param count - How many are kept ready. */
  constructor(source: ServerSource, count: number) {
    this.#source = source;
    this.#count = count;
  }

  /** How many are ready. */
  get ready(): number {
    return this.#ready;
  }

  /** Makes as many as are wanted. Resolves when they are ready, or can't be made. */
  async fill(): Promise<void> {
    while (!this.#isDisposed && this.#spares.size < this.#count) this.#spares.add(this.#make());
    await Promise.all(this.#spares);
  }

  /**
   * Takes one. Another is made by {@link fill}, which would hold up the command that this one is for.
   *
   * @returns `undefined` where an agent that was made before would not be the one that is made now.
   */
  async take(): Promise<Agent | undefined> {
    const stamp = await this.#stamp();
    for (const made of this.#spares) {
      this.#spares.delete(made);
      const spare = await made;
      if (spare === undefined) continue;
      this.#ready -= 1;
      if (spare.stamp === stamp) return spare.agent;
      void spare.agent.dispose();
    }
    return undefined;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const spares = await Promise.all(this.#spares);
    this.#spares.clear();
    await Promise.all(spares.map(async (spare) => spare?.agent.dispose()));
  }

  async #make(): Promise<Spare | undefined> {
    const stamp = await this.#stamp();
    if (stamp === undefined) return undefined;
    const { signal: _signal, config = {}, ...source } = this.#source;
    const agent = createAgent({
      records: true,
      ...source,
      // One guest, for one command.
      config: { ...config, optimizations: { ...config.optimizations, sandboxPoolSize: 1 } },
      startServers: true,
    });
    try {
      await agent.warm();
      this.#ready += 1;
      return { agent, stamp };
    } catch {
      // The command finds out for itself what is wrong.
      await agent.dispose();
      return undefined;
    }
  }

  async #stamp(): Promise<string | undefined> {
    return stampProject(this.#source).catch(() => undefined);
  }
}
