import { setImmediate } from "node:timers/promises";
import { assertKnownOptions, CemError, toErrorInfo } from "@cem/core";
import type { Agent, ResultStore, SkillStore, StateStore } from "@cem/core";
import { McpServer } from "@modelcontextprotocol/server";
import type { CallToolResult, McpServerFactory, StandardSchemaV1 } from "@modelcontextprotocol/server";
import { nearest } from "@cem/text";
import packageJson from "../package.json" with { type: "json" };
import { bindCustomTool } from "./bind-custom-tool.ts";
import type { AnyCustomTool, CustomTool } from "./custom-tool.ts";
import type { GuestFacts } from "./guest-facts.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { DEFAULT_YIELD_AFTER_MS } from "./limits.ts";
import { skillToolsOf, toolsOf } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import { RunRegistry } from "./run-registry.ts";
import { messageOf } from "./server-tool.ts";
import type { HintFor, ServerTool, ToolHost } from "./server-tool.ts";
import { strictInput } from "./strict-input.ts";

export interface AgentServerSettings<Config = unknown> {
  agent: Agent;
  /** The store behind `get_state` and `save_state`. Absent: they answer that state is disabled. */
  state?: StateStore | undefined;
  /** The store for values too large for an answer, which `read_result` reads. Absent: such values are cut. */
  results?: ResultStore | undefined;
  /** The skills behind `list_skills`, `get_skill` and `save_skill`. Absent: there are no such tools. */
  skills?: SkillStore | undefined;
  /** The set of tools that clients see. Default: `full`. */
  profile?: Profile | undefined;
  customTools?: readonly AnyCustomTool<Config>[] | undefined;
  /** Passed to the handlers of custom tools as it is. */
  config?: Config | undefined;
  /** How long a call waits for its run before it answers with the run's id, in milliseconds. Default: 45,000. */
  yieldAfterMs?: number | undefined;
  /** What code can reach in the agent's sandbox, which its model is told. Default: only `/workspace`. */
  guest?: GuestFacts | undefined;
  /** The server's name as clients see it. Default: `code-execution-mcp`. */
  name?: string | undefined;
  /**
   * Finds what helps with an error, for the reader that the server has: answers show it after the error's message.
   * Default: answers show messages alone.
   */
  hintFor?: HintFor | undefined;
}

/** Every setting's name. */
const SETTINGS: Readonly<Record<keyof AgentServerSettings, true>> = {
  agent: true,
  state: true,
  results: true,
  skills: true,
  profile: true,
  customTools: true,
  config: true,
  yieldAfterMs: true,
  guest: true,
  name: true,
  hintFor: true,
};

/** The part of a server that a transport uses. */
export interface Servable {
  readonly agent: Agent;
  readonly runs: RunRegistry;
  /** Creates the SDK's server for one connection or one request, in either generation of the protocol. */
  readonly factory: McpServerFactory;
  /** Calls the listener after tools were added. */
  onToolsChanged(listener: () => void): void;
  /**
   * Refuses new runs, gives those under way `graceMs` milliseconds to finish, then ends them. Does not dispose the
   * agent.
   */
  close(graceMs?: number): Promise<void>;
}

/** An agent as an MCP server: its tools and the runs that they started. Pass it to `serveStdio` or `serveHttp`. */
export interface AgentServer<Config = unknown> extends Servable {
  readonly config: Config;
  /**
   * Adds a tool and notifies the connected clients.
   *
   * @throws CemError `TOOL_INVALID` for a tool of the wrong shape, `TOOL_NAME_TAKEN`.
   */
  registerTool<Input extends StandardSchemaV1>(tool: CustomTool<Input, Config>): void;
  /** Adds several tools, or none where one of them is refused. */
  registerTools(tools: readonly AnyCustomTool<Config>[]): void;
}

/**
 * Creates a server for an agent. It is connected to no transport yet.
 *
 * @throws CemError `OPTION_INVALID` for an unknown setting or profile; `TOOL_INVALID` or `TOOL_NAME_TAKEN` for a custom
 *   tool.
 */
export function createAgentServer<Config = undefined>(
  settings: AgentServerSettings<Config>,
): AgentServer<Config> {
  assertKnownOptions(settings, SETTINGS, "createAgentServer", nearest);
  return new ToolServer(settings);
}

/** What the SDK registers. It reads `undefined` members as absent, which its types do not allow. */
type Registration = {
  [Key in keyof Omit<ServerTool, "name" | "handle">]: Exclude<ServerTool[Key], undefined>;
};

class ToolServer<Config> implements AgentServer<Config> {
  readonly agent: Agent;
  readonly config: Config;
  readonly runs: RunRegistry;
  readonly #name: string;
  readonly #instructions: string;
  readonly #hintFor: HintFor | undefined;
  readonly #tools = new Map<string, ServerTool>();
  readonly #connected = new Set<McpServer>();
  readonly #listeners = new Set<() => void>();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(settings: AgentServerSettings<Config>) {
    const { agent, state, results, skills, hintFor, guest = {}, profile = "full" } = settings;
    const { yieldAfterMs = DEFAULT_YIELD_AFTER_MS, customTools = [], name = "code-execution-mcp" } = settings;
    this.agent = agent;
    this.config = settings.config as Config;
    this.runs = new RunRegistry({ yieldAfterMs });
    this.#name = name;
    this.#hintFor = hintFor;
    const host: ToolHost = { agent, runs: this.runs, guest, state, results, skills, hintFor };
    const tools = [...toolsOf(profile), ...(skills === undefined ? [] : skillToolsOf(profile))];
    this.#add(tools.map((bind) => bind(host)));
    this.#instructions = INSTRUCTIONS[profile];
    this.registerTools(customTools);
  }

  readonly factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: this.#name, title: "Code Execution MCP", version: packageJson.version },
      { capabilities: { tools: { listChanged: true } }, instructions: this.#instructions },
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
    if (tools.length === 0) return;
    const bound = tools.map((tool) => bindCustomTool(tool, { agent: this.agent, config: this.config }));
    this.#add(bound);
    for (const server of this.#connected) for (const tool of bound) this.#offer(server, tool);
    for (const listener of this.#listeners) listener();
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async close(graceMs?: number): Promise<void> {
    await this.runs.close(graceMs);
    await Promise.allSettled(this.#calls);
    // Lets the transports take the answers first.
    await setImmediate();
    await Promise.allSettled([...this.#connected].map((server) => server.close()));
  }

  /** Adds all of the tools, or none. */
  #add(tools: readonly ServerTool[]): void {
    const added = new Map<string, ServerTool>();
    for (const tool of tools) {
      const { name } = tool;
      if (this.#tools.has(name) || added.has(name)) {
        throw new CemError("TOOL_NAME_TAKEN", `There is a tool "${name}" already.`, {
          details: { tool: name },
        });
      }
      added.set(name, { ...tool, inputSchema: strictInput(tool.inputSchema) });
    }
    for (const [name, tool] of added) this.#tools.set(name, tool);
  }

  #offer(server: McpServer, { name, handle, ...shown }: ServerTool): void {
    server.registerTool(name, shown as Registration, async (input, context) => {
      const call = handle(input, context).catch((error: unknown) => this.#answerError(error));
      this.#calls.add(call);
      return call.finally(() => this.#calls.delete(call));
    });
  }

  /** Answers with an error of ours. The SDK answers with the others, its protocol errors among them. */
  #answerError(error: unknown): CallToolResult {
    if (!CemError.isInstance(error)) throw error;
    return { isError: true, content: [{ type: "text", text: messageOf(toErrorInfo(error), this.#hintFor) }] };
  }
}
