import { createHostTools, createSecretFilter } from "@cem/bridge";
import type { Config } from "@cem/config";
import type { SandboxSpec, ToolCatalog, ToolInvoker } from "@cem/core";
import type { AgentOptions } from "./agent-options.ts";
import { createBridge } from "./bridge.ts";
import type { BridgeSettings } from "./bridge.ts";
import { withHostTools } from "./host-catalog.ts";
import { loadHostTools } from "./host-tools.ts";
import { openRecordingFile, readRecordingFile } from "./recording-file.ts";

/** What an agent has on the host: the bridge, its tools, and what they change in catalog and sandbox. */
export interface Hosted {
  invoker: ToolInvoker;
  addTo(catalog: ToolCatalog): ToolCatalog;
  /** What the sandbox has to know of host tools. */
  spec: Pick<SandboxSpec, "hidden" | "hostTools">;
  /** Writes the recording, if one was asked for. */
  finish(): Promise<void>;
}

/**
 * Sets up the host's side of tool calls.
 *
 * @throws CemError `TOOL_INVALID`, `RECORDING_UNREADABLE`, `RECORDING_INVALID` or `RECORDING_UNWRITABLE`.
 */
export async function createHosted(
  config: Config,
  options: Pick<AgentOptions, "tools" | "onElicit" | "recordFile" | "replayFile">,
  { store, others, log }: Pick<BridgeSettings, "store" | "others" | "log">,
): Promise<Hosted> {
  const { onElicit, recordFile, replayFile } = options;
  const loaded = await loadHostTools(config, options.tools);
  const replay = replayFile === undefined ? undefined : await readRecordingFile(replayFile);
  const writeRecording = recordFile === undefined ? undefined : await openRecordingFile(recordFile);
  const bridge = createBridge({
    tools: loaded.tools,
    others,
    store,
    log,
    elicit: onElicit,
    hideSecrets: createSecretFilter(process.env),
    record: writeRecording !== undefined,
    replay,
  });
  const { descriptions } = bridge.hostTools;
  const hostTools = Object.create(null) as Record<string, string[]>;
  for (const { server, name } of descriptions) (hostTools[server] ??= []).push(name);
  return {
    invoker: bridge.invoker,
    spec: { hidden: loaded.hidden, hostTools },
    addTo: (catalog) =>
      descriptions.length + loaded.problems.length === 0
        ? catalog
        : withHostTools(catalog, descriptions, loaded),
    async finish() {
      if (bridge.recorder !== undefined) await writeRecording?.(bridge.recorder.recording());
    },
  };
}

/** A catalog with the host tools in files among the others, for looking at and not for calling. */
export async function withHostToolFiles(catalog: ToolCatalog, config: Config): Promise<ToolCatalog> {
  const loaded = await loadHostTools(config);
  return withHostTools(catalog, createHostTools({ tools: loaded.tools }).descriptions, loaded);
}
