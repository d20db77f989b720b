import { setImmediate } from "node:timers/promises";
import { messageOf, type HintFor } from "@cem/tool-files/answers";
import { assertKnownOptions, CemError, forClients, toErrorInfo } from "@cem/core";
import { McpServer, specTypeSchemas, type ServerContext } from "@modelcontextprotocol/server";
import packageJson from "../package.json" with { type: "json" };
import { strictInput, traceRequest } from "./tool-calls.ts";
import { SETTINGS, type AgentServer, type AgentServerSettings, type ListName } from "./agent-server.ts";
import { createAnswerRedaction } from "./answer-redaction.ts";
import { createRequestStates } from "./runs/request-states.ts";
import { bindCustomTool } from "./bind-custom-tool.ts";
import type { AnyCustomTool } from "./custom-tool.ts";
import { createAskingRequests } from "./upstream/asking-requests.ts";
import { exposeContents, exposedCapabilities, type Watching } from "./upstream/expose-contents.ts";
import type { UpstreamKind } from "./upstream/upstream-contents.ts";
import { createUpstreamLists } from "./upstream/upstream-lists.ts";
import { reportFault } from "./exchange.ts";
import { DEFAULT_YIELD_AFTER_MS } from "./limits.ts";
import { INSTRUCTIONS, toolsOf } from "./tools/profiles.ts";
import { hostPerRequest, servedClient } from "./served-client.ts";
import { canAskUser } from "./runs/questions.ts";
import { RunRegistry } from "./runs/run-registry.ts";
import { BrokenRun } from "./runs/run.ts";
import { callsMade } from "./tools/run-answer.ts";
import { SAFE_WORDS } from "./tools/server-tool.ts";
import type { Caller, ServerTool, ToolAnswer, ToolHost } from "./tools/server-tool.ts";
import { workflowTool } from "./tools/run-tools.ts";

/** The client levels that include the server's own messages, which have level `notice`. */
const UP_TO_NOTICE: ReadonlySet<string> = new Set(["debug", "info", "notice"]);

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
  const { agent, state, results, skills, redactor, runWorkflow, hintFor } = settings;
  const { openOwner, replicas, probe, upstream, onMissing = () => {} } = settings;
  const { guest = {}, profile = "full", name: serverName = "code-execution-mcp" } = settings;
  const { customTools = [], workflows = [], expose = [], yieldAfterMs = DEFAULT_YIELD_AFTER_MS } = settings;
  const clientTrace = settings.clientTrace ?? (openOwner === undefined ? "join" : "link");
  const config = settings.config as Config;
  const instructions = INSTRUCTIONS[profile];
  const areQueued = agent.rejoinRun !== undefined;
  const runs = new RunRegistry({ yieldAfterMs, replica: replicas?.name, areQueued });
  const parts = { agent, state, results, skills, redactor, runWorkflow };
  const host: ToolHost = { ...parts, runs, guest, hintFor };
  const hostOf = hostPerRequest(host, openOwner);
  const states = createRequestStates(replicas);
  const redaction = redactor && createAnswerRedaction(redactor, hostOf);
  const asking = createAskingRequests(states);
  const onLate = (kind: UpstreamKind): void => announce(kind === "prompts" ? kind : "resources");
  const exposed =
    expose.length === 0
      ? undefined
      : upstream && { upstream, asking, expose, lists: createUpstreamLists(upstream, { onMissing, onLate }) };
  const tools = new Map<string, ServerTool>();
  /** The connections, with the resources that each watches. */
  const connected = new Map<McpServer, Watching | undefined>();
  /** Connections that accept log messages. In 2026-07-28 a server only logs if a request asked for it. */
  const logging = new Set<McpServer>();
  const listeners = new Set<(list: ListName) => void>();
  const calls = new Set<Promise<unknown>>();

  /** Adds all of the tools, or none. */
  function add(given: readonly ServerTool[]): void {
    const added = new Map<string, ServerTool>();
    for (const tool of given) {
      const { name } = tool;
      if (tools.has(name) || added.has(name)) {
        const message = `There is a tool "${name}" already.`;
        throw new CemError("TOOL_NAME_TAKEN", message, { details: { tool: name } });
      }
      added.set(name, { ...tool, inputSchema: strictInput(tool.inputSchema) });
    }
    for (const [name, tool] of added) tools.set(name, tool);
  }

  function offer(server: McpServer, { name, handle, ...shown }: ServerTool): void {
    server.registerTool(name, shown as Registration, async (input, context) => {
      const request = () => ({ server, context, isConnected: connected.has(server) });
      const call = traceRequest(name, context, clientTrace, () =>
        handle(input, context, canAskUser(context, server.server.getClientCapabilities()))
          .then((answer) => states.signed(answer, context))
          .catch((error: unknown) => answerError(error, hintFor))
          .then((answer) => redaction?.redact(answer, request()) ?? answer)
          .catch(async (error: unknown) => {
            throw (await redaction?.redactFailure(error, request())) ?? error;
          })
          .catch((error: unknown) => answerError(error, hintFor)),
      );
      calls.add(call);
      return call.finally(() => calls.delete(call));
    });
  }

  function registerTools(given: readonly AnyCustomTool<Config>[]): void {
    if (given.length === 0) return;
    const bound = given.map((tool) => bindCustomTool(tool, { hostOf, config }));
    add(bound);
    for (const server of connected.keys()) for (const tool of bound) offer(server, tool);
    for (const listener of listeners) listener("tools");
  }

  function announce(list: ListName, message?: string): void {
    // Changes of undeclared lists must not be announced.
    if (list !== "tools" && exposed?.expose.includes(list) !== true) return;
    for (const server of connected.keys()) {
      if (list === "tools") server.sendToolListChanged();
      else if (list === "resources") server.sendResourceListChanged();
      else server.sendPromptListChanged();
      if (message === undefined || !logging.has(server)) continue;
      server.sendLoggingMessage({ level: "notice", logger: serverName, data: message }).catch(() => {});
    }
    for (const listener of listeners) listener(list);
  }

  const own = [...toolsOf(profile, host), ...workflows.map((workflow) => workflowTool(workflow))];
  add(own.map((tool) => tool.bind(host, hostOf)));
  registerTools(customTools);
  return {
    agent,
    config,
    runs,
    replicas,
    probe,
    instructions,
    registerTool: (tool) => registerTools([tool]),
    registerTools,
    async factory({ era }) {
      const server = new McpServer(
        { name: serverName, title: "Code Execution MCP", version: packageJson.version },
        {
          capabilities: {
            tools: { listChanged: true },
            logging: {},
            ...exposedCapabilities(exposed?.expose ?? [], era),
          },
          instructions,
          requestState: { verify: states.verify },
          // Only capabilities that a client declared are used.
          enforceStrictCapabilities: true,
        },
      );
      for (const tool of tools.values()) offer(server, tool);
      const onRequest = (context: ServerContext) =>
        void redaction?.note({ server, context, isConnected: connected.has(server) });
      connected.set(server, exposed && exposeContents(server, { ...exposed, era, onRequest }));
      if (era === "legacy") {
        logging.add(server);
        // The SDK's handler reports an invalid level as a server error, and stores levels where only calls can access them.
        const params = specTypeSchemas.SetLevelRequestParams;
        server.server.setRequestHandler("logging/setLevel", { params }, ({ level }) => {
          logging[UP_TO_NOTICE.has(level) ? "add" : "delete"](server);
          return {};
        });
      }
      const onclose = (): void => {
        connected.get(server)?.end();
        connected.delete(server);
        logging.delete(server);
        redaction?.forget(server);
      };
      Object.assign(server.server, { onclose });
      return server;
    },
    listChanged(list, message) {
      exposed?.lists.refresh();
      announce(list, message);
    },
    resourceUpdated(server, uri) {
      for (const watching of connected.values()) watching?.notify(server, uri);
    },
    async openClient(authInfo) {
      const caller: Caller = { http: authInfo === undefined ? {} : { authInfo } };
      return servedClient(await hostOf(caller), caller);
    },
    onListChanged: (listener) => void listeners.add(listener),
    async close(graceMs) {
      await runs.close(graceMs);
      await Promise.allSettled(calls);
      // Lets the transports send the answers first.
      await setImmediate();
      await Promise.allSettled([...connected.keys()].map((server) => server.close()));
    },
  };
}

/** The form in which the SDK registers a tool. It reads `undefined` members as absent, which its types do not allow. */
type Registration = {
  [Key in keyof Omit<ServerTool, "name" | "handle">]: Exclude<ServerTool[Key], undefined>;
};

/** Answers with our own errors and system errors. The SDK handles all others, such as protocol errors. */
function answerError(error: unknown, hintFor: HintFor | undefined): ToolAnswer {
  const info = toErrorInfo(error);
  // A message that is replaced for clients is our own text.
  const isAll = forClients(info).message !== info.message;
  if (isAll) reportFault(error);
  else if (!CemError.isInstance(error)) throw error;
  const made = error instanceof BrokenRun ? ` ${callsMade(error.calls)}` : "";
  const text = `${messageOf(info, hintFor)}${made}`;
  const words = isAll ? text : `The call failed (${info.code}).${made}`;
  return { isError: true, content: [{ type: "text", text }], [SAFE_WORDS]: words };
}
