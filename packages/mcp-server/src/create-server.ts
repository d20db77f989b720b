import { setImmediate } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Agent, ResultStore, StateStore } from "@cem/core";
import { McpServer } from "@modelcontextprotocol/server";
import type { McpServerFactory, StandardSchemaV1 } from "@modelcontextprotocol/server";
import packageJson from "../package.json" with { type: "json" };
import { bindCustomTool } from "./bind-custom-tool.ts";
import type { AnyCustomTool, CustomTool } from "./custom-tool.ts";
import { DEFAULT_YIELD_AFTER_MS } from "./limits.ts";
import { PROFILE_TOOLS } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import { RunRegistry } from "./run-registry.ts";
import type { ServerTool, ToolHost } from "./server-tool.ts";

export interface AgentServerSettings<Config = unknown> {
  agent: Agent;
  /** Behind `get_state` and `save_state`. Absent: they answer that state is off. */
  state?: StateStore | undefined;
  /** Where values too large for an answer go, and what `read_result` reads. Absent: they are cut. */
  results?: ResultStore | undefined;
  /** Which tools clients see. Default: `full`. */
  profile?: Profile | undefined;
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /** Handed to custom tools as it is. */
  config?: Config | undefined;
  /** How long a call waits for its run before it answers with the run's id, in milliseconds. Default: 45,000. */
  yieldAfterMs?: number | undefined;
  /** What clients are told it is called. Default: `code-execution-mcp`. */
  name?: string | undefined;
}

/** What a transport needs of a server. */
export interface Servable {
  readonly agent: Agent;
  readonly runs: RunRegistry;
  /** Makes the protocol's side of one connection, or of one request, in either generation of the protocol. */
  readonly factory: McpServerFactory;
  /** Calls back whenever a tool was added. */
  onToolsChanged(listener: () => void): void;
  /** Takes no more runs, gives those under way `graceMs` to finish, then ends them. The agent is its owner's to dispose. */
  close(graceMs?: number): Promise<void>;
}

/** An agent as an MCP server: tools, and the runs that they started. Hand it to `serveStdio` or `serveHttp`. */
export interface AgentServer<Config = unknown> extends Servable {
  readonly config: Config;
  /** Adds a tool; clients that are connected hear of it. @throws CemError `TOOL_NAME_TAKEN`. */
  registerTool<Input extends StandardSchemaV1>(tool: CustomTool<Input, Config>): void;
  registerTools(tools: readonly AnyCustomTool<Config>[]): void;
}

/** Makes a server of an agent. It serves nothing yet. */
export function createAgentServer<Config = undefined>(
  settings: AgentServerSettings<Config>,
): AgentServer<Config> {
  return new ToolServer(settings);
}

class ToolServer<Config> implements AgentServer<Config> {
  readonly agent: Agent;
  readonly config: Config;
  readonly runs: RunRegistry;
  readonly #name: string;
  readonly #tools = new Map<string, ServerTool>();
  readonly #connected = new Set<McpServer>();
  readonly #listeners = new Set<() => void>();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(settings: AgentServerSettings<Config>) {
    const { agent, state, results, profile = "full", yieldAfterMs = DEFAULT_YIELD_AFTER_MS } = settings;
    this.agent = agent;
    this.config = settings.config as Config;
    this.runs = new RunRegistry({ yieldAfterMs });
    this.#name = settings.name ?? "code-execution-mcp";
    const { runs } = this;
    const host: ToolHost = { agent, runs, ...(state && { state }), ...(results && { results }) };
    for (const bind of PROFILE_TOOLS[profile]) this.#add(bind(host));
    this.registerTools(settings.customTools ?? []);
  }

  readonly factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: this.#name, title: "Code Execution MCP", version: packageJson.version },
      { capabilities: { tools: { listChanged: true } } },
    );
    for (const tool of this.#tools.values()) this.#offer(server, tool);
    this.#connected.add(server);
    Object.assign(server.server, { onclose: () => this.#connected.delete(server) });
    return server;
  };

  registerTool<Input extends StandardSchemaV1>(tool: CustomTool<Input, Config>): void {
    this.registerTools([tool]);
  }

  registerTools(tools: readonly AnyCustomTool<Config>[]): void {
    for (const tool of tools) {
      const bound = bindCustomTool(tool, { agent: this.agent, config: this.config });
      this.#add(bound);
      for (const server of this.#connected) this.#offer(server, bound);
    }
    if (tools.length > 0) for (const listener of this.#listeners) listener();
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async close(graceMs?: number): Promise<void> {
    await this.runs.close(graceMs);
    await Promise.allSettled(this.#calls);
    // The answers are on their way to the transport.
    await setImmediate();
    await Promise.allSettled([...this.#connected].map((server) => server.close()));
  }

  #add(tool: ServerTool): void {
    if (this.#tools.has(tool.name)) {
      throw new CemError(
        "TOOL_NAME_TAKEN",
        `There is a tool ${tool.name} already. Give yours another name.`,
        {
          details: { tool: tool.name },
        },
      );
    }
    this.#tools.set(tool.name, tool);
  }

  #offer(server: McpServer, { name, handle, ...shown }: ServerTool): void {
    server.registerTool(name, shown, async (input, context) => {
      const call = handle(input, context);
      this.#calls.add(call);
      return call.finally(() => this.#calls.delete(call));
    });
  }
}
