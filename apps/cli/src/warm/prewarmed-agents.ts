import type { Agent } from "@cem/core";
import { createAgent } from "code-execution-mcp";
import { stampProject } from "code-execution-mcp/admin";
import type { ServerSource } from "code-execution-mcp/admin";

interface PrewarmedAgent {
  agent: Agent;
  /** The stamp of the project when the agent was made. */
  stamp: string;
}

/**
 * Agents that are made ready before they are needed: set up, with a guest and with their servers started. Each is used for one
 * command and no other.
 */
export class PrewarmedAgents {
  readonly #source: ServerSource;
  readonly #count: number;
  readonly #prewarmed = new Set<Promise<PrewarmedAgent | undefined>>();
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
    while (!this.#isDisposed && this.#prewarmed.size < this.#count) this.#prewarmed.add(this.#make());
    await Promise.all(this.#prewarmed);
  }

  /**
   * Takes one. Another is made by {@link fill}, which would hold up the command that this one is for.
   *
   * @returns `undefined` where an agent that was made before would not be the one that is made now.
   */
  async take(): Promise<Agent | undefined> {
    const stamp = await this.#stamp();
    for (const making of this.#prewarmed) {
      this.#prewarmed.delete(making);
      const made = await making;
      if (made === undefined) continue;
      this.#ready -= 1;
      if (made.stamp === stamp) return made.agent;
      void made.agent.dispose();
    }
    return undefined;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const prewarmed = await Promise.all(this.#prewarmed);
    this.#prewarmed.clear();
    await Promise.all(prewarmed.map(async (made) => made?.agent.dispose()));
  }

  async #make(): Promise<PrewarmedAgent | undefined> {
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
