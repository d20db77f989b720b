import type { Config } from "@cem/config";
import { Lazy } from "@cem/core";
import type { AuditLog, Redactor, ResultStore } from "@cem/core";
import type { McpTools } from "@cem/mcp-tools";
import type { AgentOptions } from "../agent-options.ts";
import { createConfiguredAudit } from "./audit.ts";
import { createCallGuards } from "./call-guards.ts";
import type { CallGuards } from "./call-guards.ts";
import { CallKeeper } from "./call-keeper.ts";
import type { LoadedFor } from "./customer.ts";
import { createHostBridge } from "./host-bridge.ts";
import type { HostBridge } from "./host-bridge.ts";
import { createLog } from "./log.ts";
import { openMcpTools } from "./mcp-tools.ts";
import { redactElicit, redactLog, redactorOf, redactStore } from "./redaction.ts";
import { createConfiguredResults } from "./workspace.ts";

/** What runs on the host for code in the sandbox: the tools of MCP servers, and everything between code and tools. */
export interface Host {
  mcpTools: McpTools;
  bridge: HostBridge;
  results: ResultStore;
  /** `undefined` where values are passed on. */
  redactor: Redactor | undefined;
  callGuards: Lazy<CallGuards>;
  audit: AuditLog | undefined;
  /** Keeps calls for the records of runs. Absent where there are none. */
  callKeeper: CallKeeper | undefined;
}

/** What an agent has on the host, opened when it is first needed. The agent closes it. */
export function lazyHost(loaded: LoadedFor, options: AgentOptions): Lazy<Host> {
  return new Lazy(() => openHost(loaded, options));
}

async function openHost(loaded: LoadedFor, options: AgentOptions): Promise<Host> {
  const { config, pluginSet } = loaded;
  const plugins = await pluginSet?.get();
  const redactor = await redactorOf(loaded, options)?.get();
  const store = redactStore(await createConfiguredResults(config), redactor);
  const log = redactLog(options.log ?? createLog(config, options.onLog), redactor);
  const elicit = await redactElicit(options.onElicit, redactor);
  plugins?.logTo((message) => log("warning", message));
  const mcpTools = await openMcpTools(loaded, { log, store, elicit });
  const others = options.invoker ?? mcpTools.source;
  try {
    if (isLogRead(config, options)) log("debug", `an agent was set up from ${loaded.file ?? "the defaults"}`);
    const audit =
      options.audit ?? (await createConfiguredAudit(loaded, isLogRead(config, options) ? log : undefined));
    const { createSecretList } = await import("@cem/bridge");
    const secrets = createSecretList(process.env);
    const callGuards = new Lazy(() => createCallGuards(loaded, { ...options, audit, secrets }));
    const callKeeper = loaded.records && new CallKeeper(config.runs.keepCalls);
    const bridge = await createHostBridge(loaded, {
      ...options,
      tools: plugins === undefined ? options.tools : { ...options.tools, ...plugins.tools },
      redactor,
      onElicit: elicit,
      others,
      store,
      log,
      callGuards,
      audit,
      keeper: callKeeper,
    });
    return { mcpTools, bridge, results: store, redactor, callGuards, audit, callKeeper };
  } catch (error) {
    await mcpTools.close();
    throw error;
  }
}

/** Whether somebody reads a log of every run: a file, or who asked for the lines. Standard error is for what is wrong. */
function isLogRead({ logging }: Config, { log, onLog }: AgentOptions): boolean {
  return logging.file !== undefined || log !== undefined || onLog !== undefined;
}
