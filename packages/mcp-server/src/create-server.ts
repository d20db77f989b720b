import { setImmediate } from "node:timers/promises";
import { messageOf } from "@cem/tool-files/answers";
import type { HintFor } from "@cem/tool-files/answers";
import { assertKnownOptions, CemError, forClients, toErrorInfo } from "@cem/core";
import type { Agent, Replicas } from "@cem/core";
import type { ClientTrace } from "@cem/core/telemetry";
import { McpServer } from "@modelcontextprotocol/server";
import type {
  AuthInfo,
  CallToolResult,
  McpServerFactory,
  ServerContext,
  StandardSchemaV1,
} from "@modelcontextprotocol/server";
import packageJson from "../package.json" with { type: "json" };
import { strictInput, traceRequest } from "./tool-calls.ts";
import { SETTINGS } from "./agent-server.ts";
import type { AgentServer, AgentServerSettings, ListName } from "./agent-server.ts";
import { AnswerRedaction } from "./answer-redaction.ts";
import { RequestStates } from "./runs/request-states.ts";
import { bindCustomTool } from "./bind-custom-tool.ts";
import type { AnyCustomTool, CustomTool } from "./custom-tool.ts";
import { exposeContents, exposedCapabilities } from "./upstream/expose-contents.ts";
import type { ExposedContents, ExposeSettings } from "./upstream/expose-contents.ts";
import { DEFAULT_YIELD_AFTER_MS } from "./limits.ts";
import { INSTRUCTIONS, toolsOf } from "./tools/profiles.ts";
import type { Probe } from "./http/health.ts";
import { hostPerRequest, servedClient } from "./served-client.ts";
import { canAskUser } from "./runs/questions.ts";
import { RunRegistry } from "./runs/run-registry.ts";
import type { ServedClient } from "./served-client.ts";
import { BrokenRun, callsMade, tellAnyway } from "./told-anyway.ts";
import { SERVED_PARTS } from "./tools/server-tool.ts";
import type { Caller, HostOf, ServedParts, ServerTool, ToolHost } from "./tools/server-tool.ts";
import { workflowTool } from "./tools/run-tools.ts";

/**
 * Creates a server for an agent. It is connected to no transport yet.
 *
 * @throws CemError `OPTION_INVALID` for an unknown setting or profile; `TOOL_INVALID` or `TOOL_NAME_TAKEN` for a custom
 *   tool.
 */
export function createAgentServer<Config = undefined>(
  settings: AgentServerSettings<Config>,
): AgentServer<Config> {
  assertKnownOptions(settings, SETTINGS, "createAgentServer");
  return new ToolServer(settings);
}

/** The form in which the SDK registers a tool. It reads `undefined` members as absent, which its types do not allow. */
type Registration = {
  [Key in keyof Omit<ServerTool, "name" | "handle">]: Exclude<ServerTool[Key], undefined>;
};

class ToolServer<Config> implements AgentServer<Config> {
  readonly agent: Agent;
  readonly config: Config;
  readonly runs: RunRegistry;
  readonly replicas: Replicas | undefined;
  readonly probe: Probe | undefined;
  readonly instructions: string;
  readonly #hostOf: HostOf;
  readonly #name: string;
  readonly #clientTrace: ClientTrace;
  readonly #hintFor: HintFor | undefined;
  readonly #redaction: AnswerRedaction | undefined;
  readonly #tools = new Map<string, ServerTool>();
  /** The connections, with what they expose. */
  readonly #connected = new Map<McpServer, ExposedContents | undefined>();
  /** Those that take log messages: in 2026-07-28 a server logs only what a request asked for. */
  readonly #logging = new Set<McpServer>();
  readonly #states: RequestStates;
  readonly #listeners = new Set<(list: ListName) => void>();
  readonly #exposed: Omit<ExposeSettings, "era" | "onRequest"> | undefined;
  readonly #calls = new Set<Promise<unknown>>();

  constructor(settings: AgentServerSettings<Config>) {
    const { agent, redactor, hintFor, guest = {}, profile = "full" } = settings;
    const { yieldAfterMs = DEFAULT_YIELD_AFTER_MS, customTools = [], name = "code-execution-mcp" } = settings;
    this.agent = agent;
    this.config = settings.config as Config;
    this.replicas = settings.replicas;
    this.probe = settings.probe;
    const replica = settings.replicas?.name;
    this.runs = new RunRegistry({ yieldAfterMs, replica, areQueued: agent.rejoinRun !== undefined });
    this.#states = new RequestStates(settings.replicas);
    this.#name = name;
    this.#hintFor = hintFor;
    const { workflows = [] } = settings;
    const host: ToolHost = { ...partsIn(settings), runs: this.runs, guest, hintFor };
    const tools = [...toolsOf(profile, host), ...workflows.map((workflow) => workflowTool(workflow))];
    const { openOwner } = settings;
    this.#clientTrace = settings.clientTrace ?? (openOwner === undefined ? "join" : "link");
    this.#hostOf = hostPerRequest(host, openOwner);
    this.#redaction = redactor && new AnswerRedaction(redactor, this.#hostOf);
    this.#add(tools.map((tool) => tool.bind(host, this.#hostOf)));
    this.instructions = INSTRUCTIONS[profile];
    const { upstream, expose = [], onMissing } = settings;
    this.#exposed = expose.length === 0 ? undefined : upstream && { upstream, expose, onMissing };
    this.registerTools(customTools);
  }

  readonly factory: McpServerFactory = async ({ era }) => {
    const server = new McpServer(
      { name: this.#name, title: "Code Execution MCP", version: packageJson.version },
      {
        capabilities: {
          tools: { listChanged: true },
          logging: {},
          ...exposedCapabilities(this.#exposed?.expose ?? [], era),
        },
        instructions: this.instructions,
        requestState: { verify: this.#states.verify },
      },
    );
    for (const tool of this.#tools.values()) this.#offer(server, tool);
    const exposed = this.#exposed && {
      ...this.#exposed,
      era,
      onRequest: (context: ServerContext) =>
        void this.#redaction?.note({ server, context, isConnected: this.#connected.has(server) }),
    };
    this.#connected.set(server, exposed && exposeContents(server, exposed));
    if (era === "legacy") this.#logging.add(server);
    Object.assign(server.server, {
      onclose: () => this.#forget(server),
    });
    return server;
  };

  registerTool<Input extends StandardSchemaV1>(tool: CustomTool<Input, Config>): void {
    this.registerTools([tool]);
  }

  registerTools(tools: readonly AnyCustomTool<Config>[]): void {
    if (tools.length === 0) return;
    const bound = tools.map((tool) => bindCustomTool(tool, { hostOf: this.#hostOf, config: this.config }));
    this.#add(bound);
    for (const server of this.#connected.keys()) for (const tool of bound) this.#offer(server, tool);
    for (const listener of this.#listeners) listener("tools");
  }

  listChanged(list: ListName, message?: string): void {
    // Lists that were not declared may not be announced.
    if (list !== "tools" && this.#exposed?.expose.includes(list) !== true) return;
    for (const server of this.#connected.keys()) {
      if (list === "tools") server.sendToolListChanged();
      else if (list === "resources") server.sendResourceListChanged();
      else server.sendPromptListChanged();
      if (message === undefined || !this.#logging.has(server)) continue;
      server.sendLoggingMessage({ level: "notice", logger: this.#name, data: message }).catch(() => {});
    }
    for (const listener of this.#listeners) listener(list);
  }

  resourceUpdated(server: string, uri: string): void {
    for (const contents of this.#connected.values()) contents?.updated(server, uri);
  }

  async openClient(authInfo: AuthInfo | undefined): Promise<ServedClient> {
    const caller: Caller = { http: authInfo === undefined ? {} : { authInfo } };
    return servedClient(await this.#hostOf(caller), caller);
  }

  onListChanged(listener: (list: ListName) => void): void {
    this.#listeners.add(listener);
  }

  async close(graceMs?: number): Promise<void> {
    await this.runs.close(graceMs);
    await Promise.allSettled(this.#calls);
    // Lets the transports take the answers first.
    await setImmediate();
    await Promise.allSettled([...this.#connected.keys()].map((server) => server.close()));
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
      const request = () => ({ server, context, isConnected: this.#connected.has(server) });
      const call = traceRequest(name, context, this.#clientTrace, () =>
        handle(input, context, canAskUser(context, server.server.getClientCapabilities()))
          .then((answer) => this.#states.signed(answer, context))
          .catch((error: unknown) => this.#answerError(error))
          .then((answer) => this.#redaction?.redact(answer, request()) ?? answer)
          .catch(async (error: unknown) => {
            throw (await this.#redaction?.redactFailure(error, request())) ?? error;
          }),
      );
      this.#calls.add(call);
      return call.finally(() => this.#calls.delete(call));
    });
  }

  #forget(server: McpServer): void {
    this.#connected.delete(server);
    this.#logging.delete(server);
    this.#redaction?.forget(server);
  }

  /** Answers with an error of ours. The SDK answers with the others, its protocol errors among them. */
  #answerError(error: unknown): CallToolResult {
    if (!CemError.isInstance(error)) throw error;
    const info = toErrorInfo(error);
    const made = error instanceof BrokenRun ? ` ${callsMade(error.calls)}` : "";
    const text = `${messageOf(info, this.#hintFor)}${made}`;
    // A message that is replaced for clients is one of our own.
    const isAll = forClients(info).message !== info.message;
    const words = isAll ? text : `The call failed (${info.code}).${made}`;
    return tellAnyway({ isError: true, content: [{ type: "text", text }] }, { words, isAll });
  }
}

function partsIn(settings: ServedParts): ServedParts {
  const names = Object.keys(SERVED_PARTS) as (keyof ServedParts)[];
  return Object.fromEntries(names.map((name) => [name, settings[name]])) as unknown as ServedParts;
}
