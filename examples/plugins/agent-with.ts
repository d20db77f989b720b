import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createAgent } from "code-execution-mcp";
import type { Agent, AgentOptions, JsonValue } from "code-execution-mcp";
import { runPluginCommand } from "code-execution-mcp/admin";

const agents: Agent[] = [];
const folders: string[] = [];

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "cem-example-"));
  folders.push(folder);
  return folder;
}

/** An agent of a project in which a plugin is installed and named in the configuration. */
export async function agentWith(plugin: string, options?: Record<string, unknown>): Promise<Agent> {
  const agent = createAgent(await projectWith(plugin, options));
  agents.push(agent);
  return agent;
}

/** Calls a command that a plugin adds to `cem`. */
export async function runCommand(
  plugin: string,
  options: Record<string, unknown>,
  name: string,
  words: readonly string[],
): Promise<JsonValue | undefined> {
  const signal = AbortSignal.timeout(60_000);
  const answer = await runPluginCommand({ ...(await projectWith(plugin, options)), name, words, signal });
  return answer?.value;
}

export async function disposeAgents(): Promise<void> {
  await Promise.all(agents.splice(0).map((agent) => agent.dispose()));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}

async function projectWith(plugin: string, options?: Record<string, unknown>): Promise<AgentOptions> {
  const cwd = await temporaryFolder();
  const modules = path.join(cwd, "node_modules");
  await mkdir(modules);
  await symlink(path.join(import.meta.dirname, plugin), path.join(modules, plugin), "junction");
  return { cwd, configFile: false, config: { plugins: [{ plugin, options }] } };
}
