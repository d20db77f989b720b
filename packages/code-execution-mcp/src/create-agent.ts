import { createPipeline } from "@cem/agent";
import type { OwnedPipelineSettings } from "@cem/agent";
import type { Config } from "@cem/config";
import { Lazy } from "@cem/core";
import type { Agent, AuditLog, ExecuteOptions, Redactor, ResultStore, TaskResult } from "@cem/core";
import type { McpTools } from "@cem/mcp-tools";
import { assertAgentOptions, assertTaskOptions } from "./agent-options.ts";
import type { AgentOptions } from "./agent-options.ts";
import { createConfiguredAudit } from "./wiring/audit.ts";
import { createCallGuards } from "./wiring/call-guards.ts";
import type { CallGuards } from "./wiring/call-guards.ts";
import type { LoadedFor } from "./wiring/customer.ts";
import { createConfiguredSelector } from "./wiring/configured-selector.ts";
import { createGenerator } from "./wiring/generators.ts";
import { redactElicit, redactGenerator, redactLog, redactorOf, redactStore } from "./wiring/redaction.ts";
import { createHostBridge } from "./wiring/host-bridge.ts";
import type { HostBridge } from "./wiring/host-bridge.ts";
import { loadFrom } from "./wiring/load.ts";
import { createLog } from "./wiring/log.ts";
import { openMcpTools } from "./wiring/mcp-tools.ts";
import { createSandbox } from "./wiring/sandboxes.ts";
import { saveCheckedSkill } from "./wiring/skills.ts";
import {
  createConfiguredCatalog,
  createConfiguredGuard,
  createConfiguredTypeChecker,
} from "./wiring/stages.ts";
import { createConfiguredResults, createConfiguredSessions } from "./wiring/workspace.ts";

/**
 * Creates an agent of the default stages, set up by the configuration, which is read at the first request.
 *
 * @throws CemError `OPTION_INVALID` for an option that does not exist. Requests reject with `CONFIG_INVALID`,
 * `CONFIG_NOT_FOUND`, `SANDBOX_UNAVAILABLE` and other codes of a broken set-up; a task that merely fails is a result.
 */
export function createAgent(options: AgentOptions = {}): Agent {
  assertAgentOptions(options);
  return createPipeline(async () => setUp(await loadFrom(options), options));
}

/** Like {@link createAgent}, with a configuration that was loaded already. */
export function createLoadedAgent(
  loaded: LoadedFor,
  options: AgentOptions,
  host: Lazy<Host> = lazyHost(loaded, options),
): Agent {
  return createPipeline(async () => setUp(loaded, options, host));
}

/** What an agent has on the host, opened when it is first needed. The agent closes it. */
export function lazyHost(loaded: LoadedFor, options: AgentOptions): Lazy<Host> {
  return new Lazy(() => openHost(loaded, options));
}

/** Runs one task with an agent of its own. For more than one task use {@link createAgent}: it keeps guests ready. */
export async function executeTask(
  task: string,
  options: AgentOptions & ExecuteOptions = {},
): Promise<TaskResult> {
  assertTaskOptions(options);
  const agent = createPipeline(async () => setUp(await loadFrom(options), { ...options, oneRun: true }));
  try {
    return await agent.executeTask(task, options);
  } finally {
    await agent.dispose();
  }
}

/** Creates the stages; those of a dry run see a copy of the workspace. */
async function setUp(
  loaded: LoadedFor,
  options: AgentOptions,
  host?: Lazy<Host>,
): Promise<OwnedPipelineSettings> {
  const { onPlannedWrite } = options;
  if (onPlannedWrite === undefined) return createStages(loaded, options, host);
  const { createScratchWorkspace } = await import("./wiring/scratch-workspace.ts");
  const scratch = await createScratchWorkspace(loaded);
  // A run that changes nothing is not logged.
  const stages = await createStages(scratch.loaded, { ...options, sessions: false, resume: undefined });
  return {
    ...stages,
    async dispose() {
      await stages.dispose?.();
      await scratch.finish(onPlannedWrite);
    },
  };
}

/**
 * Creates the stages that the configuration asks for, except those that the options bring. Each is created, and its package
 * loaded, when it is first needed.
 */
async function createStages(
  loaded: LoadedFor,
  options: AgentOptions,
  host: Lazy<Host> = lazyHost(loaded, options),
): Promise<OwnedPipelineSettings> {
  const { config } = loaded;
  const isRedacted = redactorOf(config, options) !== undefined;
  const redactor = async (): Promise<Redactor | undefined> => (await host.get()).redactor;
  const sessionLog = await createConfiguredSessions(loaded, {
    ...options,
    onProblem: (error) =>
      createLog(config, options.onLog)("error", `The session can't be logged: ${String(error)}`),
  });
  if (options.startServers === true) {
    // What can't be set up, the first request reports.
    host.get().then(
      ({ mcpTools }) => mcpTools.startAll(),
      () => {},
    );
  }
  const selector = new Lazy(() => createConfiguredSelector(config, options.oneRun));
  return {
    async catalog() {
      const { bridge, mcpTools } = await host.get();
      return bridge.addTo(options.catalog ?? (await createConfiguredCatalog(config, mcpTools)));
    },
    selector: options.selector ?? (() => selector.get()),
    async generator() {
      const { generator } = options;
      const redact = redactGenerator(isRedacted ? await redactor() : undefined);
      return generator === undefined ? createGenerator(config, redact, sessionLog) : redact(generator);
    },
    async guard() {
      const { mcpTools, callGuards } = await host.get();
      const { reviewRules } = options;
      const guard =
        options.guard ?? (await createConfiguredGuard(config, await callGuards.get(), reviewRules));
      return mcpTools.startingServers(guard);
    },
    async sandbox() {
      const { bridge } = await host.get();
      return createSandbox(config, { ...options, ...bridge.spec });
    },
    invoker: async () => (await host.get()).bridge.invoker,
    results: async () => (await host.get()).results,
    redactor: isRedacted ? redactor : undefined,
    audit: async () => (await host.get()).audit,
    typeChecker: options.typeChecker ?? (() => createConfiguredTypeChecker(config)),
    typeCheck: config.execution.typeCheck,
    maxRepairs: config.llm.maxRepairs,
    sessionLog,
    dataFacts: config.llm.dataFacts,
    saveSkill: (draft, saving) =>
      saveCheckedSkill(draft, saving, {
        loaded,
        openAgent: (staged) =>
          createLoadedAgent(staged, { ...options, oneRun: true, sessions: false, resume: undefined }),
      }),
    async dispose() {
      const opened = await host.settled();
      try {
        await opened?.bridge.finish();
      } finally {
        await sessionLog?.close();
        await opened?.mcpTools.close();
        await (await selector.settled())?.dispose();
        if (options.redactor === undefined) await opened?.redactor?.dispose();
      }
    },
  };
}

/** Whether somebody reads a log of every run: a file, or who asked for the lines. Standard error is for what is wrong. */
function isLogRead({ logging }: Config, { log, onLog }: AgentOptions): boolean {
  return logging.file !== undefined || log !== undefined || onLog !== undefined;
}

/** What runs on the host for code in the sandbox: the tools of MCP servers, and everything between code and tools. */
export interface Host {
  mcpTools: McpTools;
  bridge: HostBridge;
  results: ResultStore;
  /** `undefined` where values are passed on. */
  redactor: Redactor | undefined;
  callGuards: Lazy<CallGuards>;
  audit: AuditLog | undefined;
}

async function openHost(loaded: LoadedFor, options: AgentOptions): Promise<Host> {
  const { config } = loaded;
  const redactor = await redactorOf(config, options)?.get();
  const store = redactStore(await createConfiguredResults(config), redactor);
  const log = redactLog(options.log ?? createLog(config, options.onLog), redactor);
  const elicit = await redactElicit(options.onElicit, redactor);
  const mcpTools = await openMcpTools(loaded, { log, store, elicit });
  const others = options.invoker ?? mcpTools.source;
  try {
    if (isLogRead(config, options)) log("debug", `an agent was set up from ${loaded.file ?? "the defaults"}`);
    const audit =
      options.audit ?? (await createConfiguredAudit(config, isLogRead(config, options) ? log : undefined));
    const { createSecretList } = await import("@cem/bridge");
    const secrets = createSecretList(process.env);
    const callGuards = new Lazy(() => createCallGuards(loaded, { ...options, audit, secrets }));
    const bridge = await createHostBridge(loaded, {
      ...options,
      redactor,
      onElicit: elicit,
      others,
      store,
      log,
      callGuards,
      audit,
    });
    return { mcpTools, bridge, results: store, redactor, callGuards, audit };
  } catch (error) {
    await mcpTools.close();
    throw error;
  }
}
