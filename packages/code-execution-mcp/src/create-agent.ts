import { createPipeline } from "@cem/agent";
import type { PipelineSettings } from "@cem/agent";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type {
  Agent,
  CatalogSnapshot,
  ExecuteOptions,
  Guard,
  RankedTool,
  SandboxStats,
  SearchOptions,
  TaskResult,
  ToolCatalog,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
import { createDiscovery } from "@cem/discovery";
import { createGuard } from "@cem/guardrails";
import type { Selector } from "@cem/selector";
import { createTypeChecker } from "@cem/type-check";
import { createResultStore } from "@cem/workspace";
import type { AgentOptions } from "./agent-options.ts";
import { createConfiguredSelector } from "./configured-selector.ts";
import { createGenerator } from "./generators.ts";
import { createHosted } from "./hosted.ts";
import type { Hosted } from "./hosted.ts";
import { loadFrom } from "./load.ts";
import { createLog } from "./log.ts";
import { createSandbox } from "./sandboxes.ts";
import type { Upstream } from "./upstream/create-upstream.ts";
import { openUpstream } from "./upstream/open-upstream.ts";
import { warmUpServers } from "./upstream/warm-up.ts";

/**
 * An agent of the default stages, as the configuration wants them. The configuration is read at the first call.
 *
 * @throws CemError from the first call on: `CONFIG_INVALID`, `CONFIG_NOT_FOUND`, `SANDBOX_UNAVAILABLE`, …
 */
export function createAgent(options: AgentOptions = {}): Agent {
  return new ConfiguredAgent(options);
}

/** Runs one task with an agent of its own. For more than one, make an agent: it keeps guests ready. */
export async function executeTask(
  task: string,
  options: AgentOptions & ExecuteOptions = {},
): Promise<TaskResult> {
  const agent = createAgent({ ...options, oneRun: true });
  try {
    return await agent.executeTask(task, options);
  } finally {
    await agent.dispose();
  }
}

/** What is made once for an agent and freed with it. */
interface Parts {
  upstream: Upstream;
  hosted: Hosted;
  selector: ToolSelector;
}

/** The stages that the configuration asks for, where the options bring none of their own. */
function stagesOf(options: AgentOptions, config: Config, parts: Parts): PipelineSettings {
  const { upstream, hosted, selector } = parts;
  return {
    catalog: hosted.addTo(options.catalog ?? createCatalog(config, upstream)),
    selector,
    generator: warmUpServers(options.generator ?? createGenerator(config), upstream),
    guard: options.guard ?? createConfiguredGuard(config),
    sandbox: () => createSandbox(config, { ...options, ...hosted.spec }),
    invoker: hosted.invoker,
    typeChecker: options.typeChecker ?? (async () => createConfiguredTypeChecker(config)),
    typeCheck: config.execution.typeCheck,
    maxRepairs: config.llm.maxRepairs,
  };
}

/** The tools in the configured folders; those of MCP servers say when they can't be called. */
export function createCatalog({ execution, optimizations }: Config, upstream: Upstream): ToolCatalog {
  const { serversDir, skillsDir } = execution;
  const { enabled, parallelDiscovery, toolCache, toolCacheFile } = optimizations;
  const parallel = enabled && parallelDiscovery;
  const { folders } = upstream;
  const readListed = async (folder: string) => (await folders.read(folder))?.server;
  const settings = { serversDir, skillsDir, parallel, readListed };
  const discovery = createDiscovery(
    enabled && toolCache ? { ...settings, cacheFile: toolCacheFile } : settings,
  );
  return upstream.decorate(discovery);
}

function createConfiguredTypeChecker({ execution, optimizations }: Config): TypeChecker {
  const { serversDir, skillsDir } = execution;
  const { enabled, toolCache, searchCacheDir } = optimizations;
  const cache = enabled && toolCache ? { cacheDir: searchCacheDir } : {};
  return createTypeChecker({ serversDir, skillsDir, ...cache });
}

function createConfiguredGuard({ guardrails }: Config): Guard {
  if (!guardrails.enabled) {
    return { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) };
  }
  const { blockedPatterns, securityChecks, strictMode } = guardrails;
  return createGuard({ blockedPatterns, securityChecks, strict: strictMode });
}

class ConfiguredAgent implements Agent {
  readonly specificationVersion = "v1";
  readonly #options: AgentOptions;
  #pipeline: Promise<Agent> | undefined;
  /** The pipeline, once it is there. */
  #live: Agent | undefined;
  #hosted: Hosted | undefined;
  #upstream: Upstream | undefined;
  /** Made here, so freed here. */
  #ownSelector: Selector | undefined;
  #disposed = false;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  async executeTask(task: string, options?: ExecuteOptions): Promise<TaskResult> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.executeTask(task, options);
  }

  async executeCode(code: string, options?: ExecuteOptions): Promise<TaskResult> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.executeCode(code, options);
  }

  async discoverTools(options?: { signal?: AbortSignal | undefined }): Promise<CatalogSnapshot> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.discoverTools(options);
  }

  async searchTools(query: string, options?: SearchOptions): Promise<RankedTool[]> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.searchTools(query, options);
  }

  sandboxStats(): SandboxStats | undefined {
    return this.#live?.sandboxStats?.();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const pipeline = await this.#pipeline?.catch(() => undefined);
    await pipeline?.dispose();
    await this.#hosted?.finish();
    await this.#upstream?.close();
    await this.#ownSelector?.dispose();
  }

  #obtainPipeline(): Promise<Agent> {
    if (this.#disposed && this.#pipeline === undefined) {
      throw new CemError(
        "AGENT_DISPOSED",
        "The agent was disposed and can't run anything more. Create another.",
      );
    }
    this.#pipeline ??= this.#createPipeline().catch((error: unknown) => {
      // A configuration that was mended is read at the next call.
      this.#pipeline = undefined;
      throw error;
    });
    return this.#pipeline;
  }

  async #createPipeline(): Promise<Agent> {
    const { onLog, onElicit, invoker } = this.#options;
    const loaded = await loadFrom(this.#options);
    const { config } = loaded;
    const store = createResultStore({ workspaceDir: config.execution.workspaceDir });
    const log = this.#options.log ?? createLog(config, onLog);
    const upstream = openUpstream(loaded, { log, store, elicit: onElicit });
    this.#upstream = upstream;
    const others = invoker ?? upstream.tools;
    const hosted = await createHosted(config, this.#options, { store, others, log });
    this.#hosted = hosted;
    const selector = this.#options.selector ?? (this.#ownSelector = createConfiguredSelector(config));
    return (this.#live = createPipeline(stagesOf(this.#options, config, { upstream, hosted, selector })));
  }
}
