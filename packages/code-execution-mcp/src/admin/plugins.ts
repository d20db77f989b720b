import { CemError } from "@cem/core";
import type { JsonValue } from "@cem/core";
import { createLoadedAgent } from "../create-agent.ts";
import type { AgentOptions, ServerSource } from "../options.ts";
import type { PluginReport } from "../plugins/open-plugins.ts";
import { openProject } from "../wiring/open-project.ts";
import type { Project } from "../wiring/project.ts";

/**
 * Loads the plugins of a configuration and reports the state of each. Those of an untrusted folder are not loaded.
 *
 * @throws CemError the failure of a plugin that is required.
 */
export async function listPlugins(source: ServerSource = {}): Promise<PluginReport[]> {
  return withPlugins(source, async (loaded) => {
    return (await loaded.pluginSet?.get())?.reports() ?? [];
  });
}

/** A command of a plugin to execute. */
export interface PluginCommandRequest extends Omit<AgentOptions, "catalog"> {
  name: string;
  /** Arguments after the name. */
  words: readonly string[];
  signal: AbortSignal;
}

/**
 * Executes a command that a plugin adds to `cem`.
 *
 * @returns the command's answer; `undefined` where no plugin has such a command.
 * @throws CemError `PLUGIN_FAILED` where it throws, or what it throws where that is a CemError.
 */
export async function runPluginCommand({
  name,
  words,
  signal,
  ...options
}: PluginCommandRequest): Promise<{ value: JsonValue | undefined } | undefined> {
  return withPlugins(options, async (loaded) => {
    const found = (await loaded.pluginSet?.get())?.commands.get(name);
    if (found === undefined) return undefined;
    const { command, use } = found;
    const agent = createLoadedAgent(loaded, { ...options, oneRun: true });
    try {
      const folder = options.cwd ?? process.cwd();
      return { value: await command.run(words, { folder, signal, agent }) };
    } catch (error) {
      signal.throwIfAborted();
      if (CemError.isInstance(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The command ${name} of the plugin ${use.name} failed: ${reason}`;
      throw new CemError("PLUGIN_FAILED", message, {
        details: { plugin: use.name, command: name },
        cause: error,
      });
    } finally {
      await agent.dispose();
    }
  });
}

async function withPlugins<T>(source: AgentOptions, work: (loaded: Project) => Promise<T>): Promise<T> {
  const loaded = await openProject(source);
  try {
    return await work(loaded);
  } finally {
    await loaded.dispose();
  }
}
