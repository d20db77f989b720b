import { createPipeline, EXECUTE_OPTIONS, type OwnedPipelineSettings } from "@cem/agent";
import type { Config } from "@cem/config";
import { assertKnownOptions, Lazy } from "@cem/core";
import type { Agent, ExecuteOptions, Redactor, TaskResult } from "@cem/core";
import { AGENT_OPTIONS, type AgentOptions } from "./options.ts";
import { lazyHost, type Host } from "./wiring/calls/tool-host.ts";
import { logOf, logWarnings, type Log } from "./wiring/log.ts";
import { openProject } from "./wiring/open-project.ts";
import { createRecordRedactor, redactGenerator, redactorOf } from "./wiring/privacy/redaction.ts";
import type { Project } from "./wiring/project.ts";
import { recordRunsIn } from "./wiring/records/run-records.ts";
import { createConfiguredSessions } from "./wiring/records/workspace.ts";
import { chooseProvider, meterOf, ownedSandbox } from "./wiring/sandbox/choose-sandbox.ts";
import { createSandbox } from "./wiring/sandbox/sandboxes.ts";
import { saveCheckedSkill } from "./wiring/skills.ts";
import { createGenerator } from "./wiring/stages/generators.ts";
import { createConfiguredSelector } from "./wiring/stages/selector.ts";
import { createConfiguredGuard, createConfiguredTypeChecker } from "./wiring/stages/stages.ts";

/**
 * Creates an agent with the default stages. The configuration is read at the first request.
 *
 * @throws CemError `OPTION_INVALID` for an option that does not exist. Requests reject with `CONFIG_INVALID`,
 * `CONFIG_NOT_FOUND`, `SANDBOX_UNAVAILABLE` and other codes of a broken set-up. A task that fails resolves to a result.
 */
export function createAgent(options: AgentOptions = {}): Agent & AsyncDisposable {
  assertKnownOptions(options, AGENT_OPTIONS, "createAgent");
  return createPipeline(() => setUpOwned(options));
}

export function createLoadedAgent(
  loaded: Project,
  options: AgentOptions,
  host: Lazy<Host> = lazyHost(loaded, options),
): Agent & AsyncDisposable {
  return createPipeline(async () => setUp(loaded, options, host));
}

/** Runs one task with an agent of its own. For several tasks use {@link createAgent}, which keeps guests ready. */
export async function executeTask(
  task: string,
  options: AgentOptions & ExecuteOptions = {},
): Promise<TaskResult> {
  assertKnownOptions(options, { ...AGENT_OPTIONS, ...EXECUTE_OPTIONS }, "executeTask");
  await using agent = createPipeline(() => setUpOwned({ ...options, oneRun: true }));
  const given = Object.entries(options).filter(([name]) => name in EXECUTE_OPTIONS);
  return await agent.executeTask(task, Object.fromEntries(given));
}

/** Loads the configuration and logs the parts that are ignored. */
export async function loadLogged(options: AgentOptions): Promise<Project> {
  const logBy = (config: Config): Log => logOf(config, options);
  const loaded = await openProject(options, options.records === true ? logBy : undefined);
  if (loaded.warnings.length > 0) logWarnings(loaded, logBy(loaded.config));
  return loaded;
}

/** Loads the configuration and creates the stages. Its plugins are disposed with them. */
async function setUpOwned(options: AgentOptions): Promise<OwnedPipelineSettings> {
  const loaded = await loadLogged(options);
  const stages = await setUp(loaded, options);
  return {
    ...stages,
    async dispose() {
      await stages.dispose?.();
      await loaded[Symbol.asyncDispose]();
    },
  };
}

/** Creates the stages. In a dry run they work on copies of everything they could change. */
async function setUp(
  loaded: Project,
  options: AgentOptions,
  host?: Lazy<Host>,
): Promise<OwnedPipelineSettings> {
  const { onPlannedWrite } = options;
  if (onPlannedWrite === undefined) return createStages(loaded, options, host);
  const { prepareDryRun } = await import("./wiring/dry-run/dry-run.ts");
  const dry = await prepareDryRun(loaded);
  // A run that changes nothing is not logged.
  const stages = await createStages(dry.loaded, { ...options, sessions: false, resume: undefined });
  return {
    ...stages,
    warnings: () => [...(stages.warnings?.() ?? []), ...dry.warnings],
    async dispose() {
      await stages.dispose?.();
      await dry.finish(onPlannedWrite);
    },
  };
}

/** Creates the configured stages, except those given in the options. Each stage is created, and its package loaded, on first use. */
async function createStages(
  loaded: Project,
  options: AgentOptions,
  host: Lazy<Host> = lazyHost(loaded, options),
): Promise<OwnedPipelineSettings> {
  const { config, pluginSet } = loaded;
  const isRedacted = redactorOf(loaded, options) !== undefined;
  const redactor = async (): Promise<Redactor | undefined> => (await host.get()).redactor;
  const sessionLog = await createConfiguredSessions(loaded, options, (error) =>
    logOf(config, options)("error", `The session can't be logged: ${String(error)}`),
  );
  const workspaceSync = await loaded.sync?.get();
  const meter = options.onPlannedWrite === undefined ? await meterOf(loaded) : undefined;
  const selector = new Lazy(() => createConfiguredSelector(config, options.oneRun));
  const recordRedactor = new Lazy(() => createRecordRedactor(loaded));
  const recordRun =
    loaded.records &&
    recordRunsIn(loaded.records, {
      calls: () => host.current?.callRecorder,
      nameInCode: async (call) => host.current?.mcpTools.findNameInCode(call),
      redactor,
      recordRedactor,
      owner: loaded.owner?.id,
    });
  return {
    catalog: async () => (await host.get()).catalog.get(),
    async selector() {
      const chosen = options.selector ?? (await selector.get());
      if (pluginSet === undefined) return chosen;
      const { askSelectors } = await import("./plugins/added-stages.ts");
      return askSelectors((await pluginSet.get()).selectors, chosen);
    },
    async generator() {
      const { generator } = options;
      const ofRuns = isRedacted ? await redactor() : undefined;
      const redact = redactGenerator(ofRuns);
      const chosen =
        generator === undefined
          ? await createGenerator(loaded, redact, {
              sessionLog,
              redactor: ofRuns,
              log: logOf(config, options),
            })
          : redact(generator);
      if (pluginSet === undefined) return chosen;
      const { askGenerators } = await import("./plugins/added-stages.ts");
      // A plugin's generator may send its input anywhere, so it sees tokens only.
      const own = (await pluginSet.get()).generators.map((one) => ({
        ...one,
        stage: redact(one.stage),
      }));
      return askGenerators(own, chosen);
    },
    async guard() {
      const { callGuards } = await host.get();
      const { reviewRules } = options;
      const guard =
        options.guard ?? (await createConfiguredGuard(config, await callGuards.get(), reviewRules));
      if (pluginSet === undefined) return guard;
      const { addGuards } = await import("./plugins/added-stages.ts");
      return addGuards(guard, (await pluginSet.get()).guards);
    },
    async sandbox() {
      const { bridge, fileTools } = await host.get();
      const settings = {
        ...options,
        ...bridge.spec,
        ...(await ownedSandbox(loaded, { ...options, meter })),
        plugins: await pluginSet?.get(),
        chosenBy: loaded.origins["execution.sandbox_type"]?.label,
      };
      const sandboxProvider =
        settings.sandboxProvider ?? (await chooseProvider(config, settings.oneRun, settings.plugins));
      return fileTools.openSandbox((variant) =>
        createSandbox(config, { ...settings, ...variant, sandboxProvider }),
      );
    },
    invoker: async () => (await host.get()).bridge.invoker.get(),
    onCode:
      config.mcpServers.length === 0
        ? undefined
        : async (code) => (await host.get()).mcpTools.startNamed(code),
    results: async () => (await host.get()).results,
    redactor: isRedacted ? redactor : undefined,
    keepsTokens: options.replay !== undefined,
    audit: async () => (await host.get()).audit,
    typeChecker: options.typeChecker ?? (() => createConfiguredTypeChecker(config)),
    typeCheck: config.execution.typeCheck,
    maxRepairs: config.llm.maxRepairs,
    onEvent: pluginSet && ((event) => pluginSet.current?.listeners.push(event)),
    warnings: pluginSet && (() => pluginSet.current?.problems() ?? []),
    sessionLog,
    recordRun,
    workspaceSync,
    meter,
    dataFacts: config.llm.dataFacts,
    saveSkill: (draft, saving) =>
      saveCheckedSkill(draft, saving, {
        loaded,
        openAgent: (staged) =>
          createLoadedAgent(
            { ...staged, records: undefined },
            { ...options, oneRun: true, sessions: false, resume: undefined },
          ),
      }),
    async dispose() {
      const opened = await host.settled();
      await sessionLog?.close();
      await loaded.records?.flush();
      await (await recordRedactor.settled())?.dispose();
      // Changes that can't be uploaded now are uploaded when the workspace is opened here again.
      await workspaceSync?.close();
      await opened?.mcpTools.close();
      await (await selector.settled())?.dispose();
      if (options.redactor === undefined) await opened?.redactor?.dispose();
    },
  };
}
