import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createAgent } from "code-execution-mcp";
import type { Agent, AgentOptions } from "code-execution-mcp";

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
