import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createAgent } from "../src/index.ts";
import type { Agent, ConfigInput } from "../src/index.ts";

type Servers = NonNullable<ConfigInput["mcpServers"]>;

const require = createRequire(import.meta.url);
const oddServer = fileURLToPath(new URL("../../mcp-client/fixtures/odd-server.ts", import.meta.url));

/** For servers in TypeScript, which get no variable by themselves: each process would read all of its sources anew. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  process.env["NODE_COMPILE_CACHE"] === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };

/** An installed reference server: `everything`, `filesystem`. */
export function reference(name: string, ...args: string[]): { command: string; args: string[] } {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return { command: process.execPath, args: [path.join(manifest, "../dist/index.js"), ...args] };
}

/** A server that misbehaves as told, with a description for its tool `echo`. */
export function odd(
  mode: string,
  ...saying: string[]
): { command: string; args: string[]; env: Record<string, string> } {
  return { command: process.execPath, args: [oddServer, mode, ...saying], env: { ...COMPILE_CACHE } };
}

export interface Project {
  folder: string;
  log: string[];
  /** Where everything is set up as in this folder, with these servers. */
  source(
    servers: Servers,
    more?: ConfigInput,
  ): { cwd: string; configFile: false; config: ConfigInput; onLog: (line: string) => void };
  /** An agent with these servers, gone after the test. */
  agent(servers: Servers, more?: ConfigInput): Agent;
}

/** A folder of its own, gone after the test. */
export async function makeProject(
  atEnd: (work: () => Promise<void>) => void = onTestFinished,
): Promise<Project> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "cem-upstream-")));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const log: string[] = [];
  const source: Project["source"] = (mcpServers, more = {}) => ({
    cwd: folder,
    configFile: false,
    // Every agent would load the compiler to check types, and start guests that no run needs.
    config: {
      mcpServers,
      logging: { level: "DEBUG" },
      execution: { typeCheck: "off" },
      optimizations: { sandboxPooling: false },
      ...more,
    },
    onLog: (line) => log.push(line),
  });
  return {
    folder,
    log,
    source,
    agent(servers, more) {
      const agent = createAgent({ ...source(servers, more), oneRun: true });
      atEnd(() => agent.dispose());
      return agent;
    },
  };
}
