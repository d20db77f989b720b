import { createAgent as createPipeline } from "@cem/agent";
import type { AgentSettings } from "@cem/agent";
import { createRulesGenerator } from "@cem/codegen";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type {
  Agent,
  CatalogSnapshot,
  ExecuteOptions,
  Guard,
  RankedTool,
  TaskResult,
  ToolSelector,
} from "@cem/core";
import { createDiscovery } from "@cem/discovery";
import { createGuard } from "@cem/guardrails";
import type { Selector } from "@cem/selector";
import type { AgentOptions } from "./agent-options.ts";
import { createConfiguredSelector } from "./configured-selector.ts";
import { loadFrom } from "./load.ts";
import { createSandbox } from "./sandboxes.ts";

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

/** The stages that the configuration asks for, where the options bring none of their own. */
function stagesOf(options: AgentOptions, config: Config, selector: ToolSelector): AgentSettings {
  const stages: AgentSettings = {
    catalog: options.catalog ?? createCatalog(config),
    selector,
    generator: options.generator ?? createRulesGenerator(),
    guard: options.guard ?? createConfiguredGuard(config),
    sandbox: () => createSandbox(config, options),
  };
  if (options.invoker !== undefined) stages.invoker = options.invoker;
  return stages;
}

/** The tools in the configured folders. */
export function createCatalog({ execution, optimizations }: Config): ReturnType<typeof createDiscovery> {
  const { serversDir, skillsDir } = execution;
  const { enabled, parallelDiscovery, toolCache, toolCacheFile } = optimizations;
  const settings = { serversDir, skillsDir, parallel: enabled && parallelDiscovery };
  return createDiscovery(enabled && toolCache ? { ...settings, cacheFile: toolCacheFile } : settings);
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

  async discoverTools(options?: { signal?: AbortSignal }): Promise<CatalogSnapshot> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.discoverTools(options);
  }

  async searchTools(
    query: string,
    options?: { limit?: number; signal?: AbortSignal },
  ): Promise<RankedTool[]> {
    const pipeline = await this.#obtainPipeline();
    return pipeline.searchTools(query, options);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const pipeline = await this.#pipeline?.catch(() => undefined);
    await pipeline?.dispose();
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
    const { config } = await loadFrom(this.#options);
    const selector = this.#options.selector ?? (this.#ownSelector = createConfiguredSelector(config));
    return createPipeline(stagesOf(this.#options, config, selector));
  }
}
