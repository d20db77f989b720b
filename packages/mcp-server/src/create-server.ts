import { setImmediate } from "node:timers/promises";
import { messageOf } from "@cem/answers";
import type { HintFor } from "@cem/answers";
import { assertKnownOptions, CemError, toErrorInfo } from "@cem/core";
import type { Agent, Redactor, ResultStore, ServerCopies, SkillStore, StateStore } from "@cem/core";
import type { ClientTrace } from "@cem/telemetry";
import { McpServer } from "@modelcontextprotocol/server";
import type {
  AuthInfo,
  CallToolResult,
  InputRequiredResult,
  McpServerFactory,
  ServerContext,
  StandardSchemaV1,
} from "@modelcontextprotocol/server";
import type { SkillsExtension, SkillSource } from "@modelcontextprotocol/server/ext/skills";
import { nearest } from "@cem/text";
import packageJson from "../package.json" with { type: "json" };
import { traceRequest } from "./trace-request.ts";
import { AskingRequests } from "./asking-requests.ts";
import { bindCustomTool } from "./bind-custom-tool.ts";
import { customerNameOf } from "./customer.ts";
import type { OpenCustomer } from "./customer.ts";
import type { AnyCustomTool, CustomTool } from "./custom-tool.ts";
import type { GuestFacts } from "./guest-facts.ts";
import { exposeContents, exposedCapabilities } from "./expose-contents.ts";
import type { ExposedContents, ExposeSettings } from "./expose-contents.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { DEFAULT_YIELD_AFTER_MS } from "./limits.ts";
import { skillToolsOf, toolsOf } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import type { Probe } from "./readiness.ts";
import { RequestStates } from "./request-states.ts";
import { RunRegistry } from "./run-registry.ts";
import { sessionOf } from "./server-tool.ts";
import { servedClient } from "./served-client.ts";
import type { ServedClient } from "./served-client.ts";
import type { Caller, HostOf, ServerTool, ToolHost } from "./server-tool.ts";
import { StoredSkillSource } from "./skill-source.ts";
import { strictInput } from "./strict-input.ts";
import { workflowTool } from "./tools/workflow-tools.ts";
import type { RunWorkflowTool, WorkflowTool } from "./workflow-tool.ts";
import type { Exposed, UpstreamContents } from "./upstream-contents.ts";

export interface AgentServerSettings<Config = unknown> {
  agent: Agent;
  /** The store behind `get_state` and `save_state`. Absent: they answer that state is disabled. */
  state?: StateStore | undefined;
  /** The store for values too large for an answer, which `read_result` reads. Absent: such values are cut. */
  results?: ResultStore | undefined;
  /**
   * The skills behind `list_skills`, `get_skill` and `save_skill`, which clients also read over the protocol's extension
   * for skills (SEP-2640). Absent: there are no such tools and no skills to read.
   */
  skills?: SkillStore | undefined;
  /**
   * Opens what belongs to the customer of a request, in place of `agent`, `state`, `results` and `skills`. Absent: there
   * are no customers.
   */
  openCustomer?: OpenCustomer | undefined;
  /** Workflows that clients see as tools, which `runWorkflow` runs. Default: none. */
  workflows?: readonly WorkflowTool[] | undefined;
  runWorkflow?: RunWorkflowTool | undefined;
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
   * What becomes of the trace that a client's request names: spans go on in it, or a trace of the server's own links to it.
   *
   * @defaultValue `link` with customers, who are strangers to each other; else `join`
   */
  clientTrace?: ClientTrace | undefined;
  /** Keeps values of persons and secrets from answers. The agent should have the same. Default: they are passed on. */
  redactor?: Redactor | undefined;
  /**
   * Finds what helps with an error, for the reader that the server has: answers show it after the error's message.
   * Default: answers show messages alone.
   */
  hintFor?: HintFor | undefined;
  /** What clients see of the servers behind besides tools. Default: nothing. */
  expose?: readonly Exposed[] | undefined;
  /** The resources and prompts of the servers behind. Absent: there are none to expose. */
  upstream?: UpstreamContents | undefined;
  /** Receives why what a server behind has is missing from a list. */
  onMissing?: ((server: string, error: unknown) => void) | undefined;
  /** How `/readyz` finds out whether runs can be carried out. Default: it runs a program. */
  probe?: Probe | undefined;
  /** The copies of this server behind the same address. Absent: there is one. */
  copies?: ServerCopies | undefined;
  /** Receives why a skill is not served as one. */
  onMissingSkill?: ((skill: string, error: unknown) => void) | undefined;
}

/** Every setting's name. */
const SETTINGS: Readonly<Record<keyof AgentServerSettings, true>> = {
  agent: true,
  state: true,
  results: true,
  skills: true,
  openCustomer: true,
  workflows: true,
  runWorkflow: true,
  profile: true,
  customTools: true,
  config: true,
  yieldAfterMs: true,
  guest: true,
  redactor: true,
  name: true,
  hintFor: true,
  clientTrace: true,
  expose: true,
  upstream: true,
  onMissing: true,
  onMissingSkill: true,
  copies: true,
  probe: true,
};

/** The lists of a server, which may change while clients are connected. */
export type ListName = "tools" | Exposed;

/** The part of a server that a transport uses. */
export interface Servable {
  readonly agent: Agent;
  readonly runs: RunRegistry;
  /** How `/readyz` finds out whether runs can be carried out, where it does not run a program. */
  readonly probe?: Probe | undefined;
  /** The copies of this server behind the same address. */
  readonly copies?: ServerCopies | undefined;
  /** Creates the SDK's server for one connection or one request, in either generation of the protocol. */
  readonly factory: McpServerFactory;
  /** Calls the listener after a list, or what its tools can find, changed. */
  onListChanged(listener: (list: ListName) => void): void;
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
  /**
   * Notifies the connected clients that a list changed, or for `tools` what the server's tools find and can call.
   *
   * @param message - What changed. Clients of protocol 2025-11-25 and older get it as a log message.
   */
  listChanged(list: ListName, message?: string): void;
  /**
   * What belongs to an authenticated client: that of its customer, where there are customers.
   *
   * @throws CemError `CUSTOMER_UNKNOWN` where the request does not say which customer it comes from.
   */
  openClient(authInfo: AuthInfo | undefined): Promise<ServedClient>;
  /** Notifies the clients that watch a resource of a server behind. */
  resourceUpdated(server: string, uri: string): void;
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
  readonly copies: ServerCopies | undefined;
  readonly probe: Probe | undefined;
  readonly #hostOf: HostOf;
  readonly #name: string;
  readonly #clientTrace: ClientTrace;
  readonly #instructions: string;
  readonly #hintFor: HintFor | undefined;
  readonly #redactor: Redactor | undefined;
  readonly #tools = new Map<string, ServerTool>();
  /** The connections, with what they expose. */
  readonly #connected = new Map<McpServer, ExposedContents | undefined>();
  /** Those that take log messages: in 2026-07-28 a server logs only what a request asked for. */
  readonly #logging = new Set<McpServer>();
  readonly #states: RequestStates;
  readonly #asking = new AskingRequests();
  readonly #listeners = new Set<(list: ListName) => void>();
  readonly #exposed: Omit<ExposeSettings, "era" | "asking" | "states" | "skills"> | undefined;
  readonly #skills: SkillSource | undefined;
  readonly #onMissingSkill: AgentServerSettings["onMissingSkill"];
  #skillsExtension: SkillsExtension | undefined;
  /** The sessions whose values are forgotten when their connection closes. */
  readonly #sessions = new Map<McpServer, { session: string; redactor: Redactor | undefined }>();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(settings: AgentServerSettings<Config>) {
    const { agent, state, results, skills, redactor, hintFor, guest = {}, profile = "full" } = settings;
    const { yieldAfterMs = DEFAULT_YIELD_AFTER_MS, customTools = [], name = "code-execution-mcp" } = settings;
    this.agent = agent;
    this.config = settings.config as Config;
    this.copies = settings.copies;
    this.probe = settings.probe;
    const copy = settings.copies?.name;
    this.runs = new RunRegistry({ yieldAfterMs, copy });
    this.#states = new RequestStates(copy);
    this.#name = name;
    this.#hintFor = hintFor;
    this.#redactor = redactor;
    const { runWorkflow, workflows = [] } = settings;
    const stores = { state, results, skills };
    const host: ToolHost = { agent, runs: this.runs, guest, ...stores, runWorkflow, redactor, hintFor };
    const tools = [
      ...toolsOf(profile),
      ...(skills === undefined ? [] : skillToolsOf(profile)),
      ...workflows.map((workflow) => workflowTool(workflow)),
    ];
    const { openCustomer } = settings;
    this.#clientTrace = settings.clientTrace ?? (openCustomer === undefined ? "join" : "link");
    const ofCustomer = async (open: OpenCustomer, context: Caller): Promise<ToolHost> => ({
      ...host,
      ...(await open(customerNameOf(context))),
    });
    // Of one call, what is opened first is used to the end: a customer who is deleted meanwhile must not come back.
    const opened = new WeakMap<Caller, Promise<ToolHost>>();
    this.#hostOf = (context) => {
      if (openCustomer === undefined) return host;
      const opening = opened.get(context) ?? ofCustomer(openCustomer, context);
      opened.set(context, opening);
      return opening;
    };
    this.#add(tools.map((bind) => bind(host, this.#hostOf)));
    this.#instructions = INSTRUCTIONS[profile];
    const { upstream, expose = [], onMissing, onMissingSkill } = settings;
    this.#exposed = upstream && { upstream, expose, onMissing };
    this.#onMissingSkill = onMissingSkill;
    const storeOf = async (context: ServerContext) => (await this.#hostOf(context)).skills;
    this.#skills =
      skills === undefined
        ? undefined
        : new StoredSkillSource({ storeOf, redactor, onMissing: onMissingSkill });
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
        instructions: this.#instructions,
        requestState: { verify: this.#states.verify },
      },
    );
    for (const tool of this.#tools.values()) this.#offer(server, tool);
    await this.#serveSkills(server);
    const exposed = this.#exposed && {
      ...this.#exposed,
      skills: this.#skills,
      era,
      asking: this.#asking,
      states: this.#states,
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
    const agentOf = async (context: ServerContext): Promise<Agent> => (await this.#hostOf(context)).agent;
    const bound = tools.map((tool) => bindCustomTool(tool, { agentOf, config: this.config }));
    this.#add(bound);
    for (const server of this.#connected.keys()) for (const tool of bound) this.#offer(server, tool);
    for (const listener of this.#listeners) listener("tools");
  }

  listChanged(list: ListName, message?: string): void {
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
      const call = traceRequest(name, context, this.#clientTrace, () =>
        handle(input, context)
          .then((answer) => this.#states.signed(answer, context))
          .catch((error: unknown) => this.#answerError(error))
          .then((answer) => this.#redact(server, name, answer, context)),
      );
      this.#calls.add(call);
      return call.finally(() => this.#calls.delete(call));
    });
  }

  /** Loads the protocol's extension for skills where there are some to serve. */
  async #serveSkills(server: McpServer): Promise<void> {
    if (this.#skills === undefined) return;
    const { SkillsExtension } = await import("@modelcontextprotocol/server/ext/skills");
    this.#skillsExtension ??= new SkillsExtension({
      source: this.#skills,
      onWarning: ({ path, message }) => this.#onMissingSkill?.(path, new Error(message)),
    });
    this.#skillsExtension.attach(server);
  }

  #forget(server: McpServer): void {
    this.#connected.delete(server);
    this.#logging.delete(server);
    const known = this.#sessions.get(server);
    if (known === undefined) return;
    this.#sessions.delete(server);
    known.redactor?.endSession(known.session).catch(() => {});
  }

  async #redact(
    server: McpServer,
    tool: string,
    answer: CallToolResult | InputRequiredResult,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (this.#redactor === undefined) return answer;
    const { session } = sessionOf(context);
    const redactor = await this.#redactorOf(context);
    // Without a session of its own a connection may be that of one call.
    if (context.sessionId !== undefined && this.#connected.has(server))
      this.#sessions.set(server, { session, redactor });
    // Questions come from runs, whose redactor has seen them.
    if (redactor === undefined || !("content" in answer)) return answer;
    const { redactAnswer } = await import("./redact-answer.ts");
    return redactAnswer(tool, answer as CallToolResult, redactor, session);
  }

  /** That of the request's customer; where the customer can't be told or served, that of nobody in particular. */
  async #redactorOf(context: ServerContext): Promise<Redactor | undefined> {
    try {
      return (await this.#hostOf(context)).redactor;
    } catch {
      return this.#redactor;
    }
  }

  /** Answers with an error of ours. The SDK answers with the others, its protocol errors among them. */
  #answerError(error: unknown): CallToolResult {
    if (!CemError.isInstance(error)) throw error;
    return { isError: true, content: [{ type: "text", text: messageOf(toErrorInfo(error), this.#hintFor) }] };
  }
}
