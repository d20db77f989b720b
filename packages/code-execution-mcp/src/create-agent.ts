import { createPipeline } from "@cem/agent";
import type { OwnedPipelineSettings } from "@cem/agent";
import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import type { Selector } from "@cem/selector";
import { createResultStore } from "@cem/workspace";
import { assertAgentOptions, assertTaskOptions } from "./agent-options.ts";
import type { AgentOptions } from "./agent-options.ts";
import { createConfiguredSelector } from "./wiring/configured-selector.ts";
import { createGenerator } from "./wiring/generators.ts";
import { createHostBridge } from "./wiring/host-bridge.ts";
import { loadFrom } from "./wiring/load.ts";
import { createLog } from "./wiring/log.ts";
import { openMcpTools } from "./wiring/mcp-tools.ts";
import { createSandbox } from "./wiring/sandboxes.ts";
import {
  createConfiguredCatalog,
  createConfiguredGuard,
  createConfiguredTypeChecker,
} from "./wiring/stages.ts";

/**
 * Creates an agent of the default stages, set up by the configuration, which is read at the first request.
 *
 * @throws CemError `OPTION_INVALID` for an option that does not exist. Requests reject with `CONFIG_INVALID`,
 * `CONFIG_NOT_FOUND`, `SANDBOX_UNAVAILABLE` and other codes of a broken set-up; a task that merely fails is a result.
 */
export function createAgent(options: AgentOptions = {}): Agent {
  assertAgentOptions(options);
  return createPipeline(() => createStages(options));
}

/** Runs one task with an agent of its own. For more than one task use {@link createAgent}: it keeps guests ready. */
export async function executeTask(
  task: string,
  options: AgentOptions & ExecuteOptions = {},
): Promise<TaskResult> {
  assertTaskOptions(options);
  const agent = createPipeline(() => createStages({ ...options, oneRun: true }));
  try {
    return await agent.executeTask(task, options);
  } finally {
    await agent.dispose();
  }
}

/** Creates the stages that the configuration asks for, except those that the options bring. */
async function createStages(options: AgentOptions): Promise<OwnedPipelineSettings> {
  const loaded = await loadFrom(options);
  const store = createResultStore({ workspaceDir: loaded.config.execution.workspaceDir });
  const log = options.log ?? createLog(loaded.config, options.onLog);
  const mcpTools = openMcpTools(loaded, { log, store, elicit: options.onElicit });
  try {
    const { config } = loaded;
    const others = options.invoker ?? mcpTools.source;
    const bridge = await createHostBridge(config, { ...options, others, store, log });
    let ownSelector: Selector | undefined;
    const selector = options.selector ?? (ownSelector = createConfiguredSelector(config));
    return {
      catalog: bridge.addTo(options.catalog ?? createConfiguredCatalog(config, mcpTools)),
      selector,
      generator: mcpTools.startingServers(options.generator ?? createGenerator(config)),
      guard: options.guard ?? createConfiguredGuard(config),
      sandbox: () => createSandbox(config, { ...options, ...bridge.spec }),
      invoker: bridge.invoker,
      typeChecker: options.typeChecker ?? (async () => createConfiguredTypeChecker(config)),
      typeCheck: config.execution.typeCheck,
      maxRepairs: config.llm.maxRepairs,
      async dispose() {
        try {
          await bridge.finish();
        } finally {
          await mcpTools.close();
          await ownSelector?.dispose();
        }
      },
    };
  } catch (error) {
    await mcpTools.close();
    throw error;
  }
}
