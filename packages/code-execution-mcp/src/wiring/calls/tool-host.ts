import type { CallRecorder } from "@cem/bridge";
import type { Config } from "@cem/config";
import { Lazy } from "@cem/core";
import type { Agent, AuditLog, Redactor, ResultStore, ToolCatalog } from "@cem/core";
import type { PlannedWrite } from "@cem/guardrails/calls";
import type { FileTools, McpTools } from "@cem/mcp-client/tools";
import type { AgentOptions } from "../../options.ts";
import { logOf } from "../log.ts";
import { redactElicit, redactLog, redactorOf, redactServerLog, redactStore } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { createConfiguredAudit } from "../records/audit.ts";
import { createConfiguredResults } from "../records/workspace.ts";
import { viewsDirOf } from "../sandbox/sandboxes.ts";
import { openMcpTools } from "../servers/mcp-tools.ts";
import { markApprovals, createConfiguredCatalog } from "../stages/stages.ts";
import { concernsFiles, createCallGuards, type CallGuards } from "./call-guards.ts";
import { createHostBridge } from "./host-bridge.ts";

/** The host side of the sandbox: the tools of MCP servers, and everything between code and tools. */
export interface Host {
  mcpTools: McpTools;
  bridge: Awaited<ReturnType<typeof createHostBridge>>;
  fileTools: FileTools;
  catalog: Lazy<ToolCatalog>;
  results: ResultStore;
  /** `undefined` if values are not redacted. */
  redactor: Redactor | undefined;
  callGuards: Lazy<CallGuards>;
  audit: AuditLog | undefined;
  callRecorder: CallRecorder | undefined;
}

export type OpenAgent = (project: Project, options: AgentOptions, host?: Lazy<Host>) => Agent;

/**
 * The host side of an agent, opened on first use. The agent closes it.
 *
 * @param connected - A host whose connections to MCP servers are reused and left open. Default: new connections.
 */
export function lazyHost(loaded: Project, options: AgentOptions, connected?: Lazy<Host>): Lazy<Host> {
  return new Lazy(async () => openHost(loaded, options, (await connected?.get())?.mcpTools));
}

async function openHost(
  loaded: Project,
  options: AgentOptions,
  connected: McpTools | undefined,
): Promise<Host> {
  const { config, pluginSet } = loaded;
  const plugins = await pluginSet?.get();
  const redactor = await redactorOf(loaded, options)?.get();
  const store = redactStore(await createConfiguredResults(config), redactor);
  const written = logOf(config, options);
  const log = redactLog(written, redactor);
  const elicit = await redactElicit(options.onElicit, redactor);
  plugins?.logTo((message) => log("warning", message));
  const isDry = options.onPlannedWrite !== undefined;
  const mcpTools: McpTools =
    connected === undefined
      ? await openMcpTools(loaded, {
          log: redactServerLog(written, redactor),
          store,
          elicit,
          // Servers may list different tools for each customer, and files are shared by all.
          changesFiles: !isDry && loaded.owner === undefined,
        })
      : { ...connected, close: async () => {} };
  const others = options.invoker ?? mcpTools.source;
  try {
    if (isLogRead(config, options)) log("debug", `an agent was set up from ${loaded.file ?? "the defaults"}`);
    const configured =
      options.audit ?? (await createConfiguredAudit(loaded, log, isLogRead(config, options)));
    const planned: PlannedWrite[] = [];
    // A replay answers calls from the record, so it plans none, and runs file tools where the recorded run did.
    const onPlannedWrite =
      isDry && options.replay === undefined
        ? (write: PlannedWrite): void => {
            planned.push(write);
            options.onPlannedWrite?.(write);
          }
        : undefined;
    const audit =
      configured && isDry
        ? (await import("../dry-run/dry-run.ts")).auditOfDryRun(configured, planned)
        : configured;
    const { createCallRecorder, createSecretList } = await import("@cem/bridge");
    const secrets = createSecretList(process.env);
    const callGuards = new Lazy(() =>
      createCallGuards(loaded, { ...options, onPlannedWrite, audit, secrets }),
    );
    const callRecorder = loaded.records && createCallRecorder(config.runs.keepCalls);
    const { createFileTools } = await import("@cem/mcp-client/tools");
    const catalog: Lazy<ToolCatalog> = new Lazy(async () => {
      const listed =
        options.catalog ?? (await createConfiguredCatalog(loaded, mcpTools, bridge.spec.hostTools));
      const marked = markApprovals(bridge.addTo(listed), async () => (await callGuards.get()).needsApproval);
      return fileTools.remembering(marked);
    });
    const fileTools: FileTools = createFileTools({
      serversDir: config.execution.serversDir,
      skillsDir: config.execution.skillsDir,
      viewsDir: viewsDirOf(config),
      isGuarded: concernsFiles(loaded, { ...options, onPlannedWrite }),
      concern: async () => (await callGuards.get()).concern,
      catalog,
      // A file tool calls tools within a run, whose first call has created the invoker.
      invoker: () => ({
        specificationVersion: "v1",
        invoke: async (call, context) => (await bridge.invoker.get()).invoke(call, context),
      }),
      onOutput: (tool, text) => log("debug", `${tool} printed: ${text}`),
    });
    const bridge = await createHostBridge(loaded, {
      ...options,
      tools: plugins === undefined ? options.tools : { ...options.tools, ...plugins.tools },
      redactor,
      onElicit: elicit,
      others,
      nameInCode: mcpTools.findNameInCode,
      fileTools,
      store,
      log,
      callGuards,
      audit,
      recorderOfCalls: callRecorder,
    });
    return {
      mcpTools,
      bridge,
      fileTools,
      catalog,
      results: store,
      redactor,
      callGuards,
      audit,
      callRecorder,
    };
  } catch (error) {
    await mcpTools.close();
    throw error;
  }
}

/** Whether entries about normal runs have a reader: a log file or a listener. Standard error is for problems only. */
function isLogRead({ logging }: Config, { log, onLog }: AgentOptions): boolean {
  return logging.file !== undefined || log !== undefined || onLog !== undefined;
}
