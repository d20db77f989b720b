import type { KnownTool, OnUnvalidated, ToolSource } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { JsonValue, ResultStore } from "@cem/core";
import type { LockedTool } from "@cem/tool-files";
import { connectionsFor } from "../servers/mcp-servers.ts";
import type { McpServers } from "../servers/mcp-servers.ts";
import { toolChanged } from "./generated-folders.ts";
import type { GeneratedFolders, ToolChanges } from "./generated-folders.ts";

export interface GeneratedToolSourceSettings {
  servers: McpServers;
  folders: GeneratedFolders;
  changes: ToolChanges;
  /** Whether a tool whose definition changed is refused until the change is accepted. */
  holdChanged: boolean;
  /** Keeps images, other bytes and large results. */
  store?: ResultStore | undefined;
  /** Receives each tool whose results can't be checked, once, with the reason. */
  onUnvalidated?: OnUnvalidated | undefined;
}

/** The generated tools of MCP servers, for the bridge to call. */
export interface GeneratedToolSource extends ToolSource {
  /** Writes the results that were observed to infer return types from. */
  save(): Promise<void>;
}

/** Makes the source of generated tools. Each is called as it was accepted. */
export function createGeneratedToolSource(settings: GeneratedToolSourceSettings): GeneratedToolSource {
  const { servers, folders, changes, holdChanged, store, onUnvalidated } = settings;
  const observer = createResultObserver();
  const accepted = new WeakMap<KnownTool, AcceptedTool>();
  let loading: Promise<ToolSource> | undefined;

  const findTool = async (server: string, tool: string): Promise<KnownTool | undefined> => {
    const connections = await connectionsFor(server, servers);
    // The connections report a server that does not exist.
    if (!servers.byName.has(server)) return undefined;
    const folder = await servers.folderOf(server);
    const generated = await folders.read(folder);
    const locked = generated?.locked.get(tool);
    const list = await connections.listTools(server);
    const listed = list.byName.get(tool);
    if (generated === undefined || locked === undefined) {
      if (generated !== undefined && listed === undefined) return undefined;
      throw notGenerated(server, tool);
    }
    const { changed } = await changes.compare(list, generated.lock);
    const change = changed.get(tool);
    if (change !== undefined && holdChanged) {
      const places = change.differences.map(({ place }) => place);
      throw toolChanged(server, locked, places);
    }
    if (listed !== undefined) accepted.set(listed, { folder, locked });
    return listed;
  };

  const load = async (): Promise<ToolSource> => {
    const { createMcpToolSource } = await import("../../invoker.ts");
    return createMcpToolSource(await servers.connections(), { findTool, store, onUnvalidated });
  };

  return {
    specificationVersion: "v1",
    async find(call, signal) {
      const tools = await (loading ??= load());
      return tools.find(call, signal);
    },
    async invoke(call, context) {
      const tools = await (loading ??= load());
      const result = await tools.invoke(call, context);
      const tool = call.found === undefined ? undefined : accepted.get(call.found);
      if (result.ok && tool !== undefined) await observer.observe(tool, result.value);
      return result;
    },
    save: () => observer.save(),
  };
}

function notGenerated(server: string, tool: string): CemError {
  return new CemError(
    "TOOL_NOT_GENERATED",
    `No file was generated for the tool "${tool}" of server "${server}".`,
    { details: { server, tool } },
  );
}

/** How many results of one tool are kept, to infer its return type from. */
const MAX_SAMPLES = 20;
const MAX_SAMPLE_CHARACTERS = 256 * 1024;
/** Characters of JSON that are kept of all tools together until they are saved. */
const MAX_ALL_CHARACTERS = 8 * 1024 * 1024;

/** A generated tool as it was accepted, and the folder that its file is in. */
export interface AcceptedTool {
  folder: string;
  locked: LockedTool;
}

/** Collects results of tools without an output schema, for servers whose user allowed it. */
export interface ResultObserver {
  observe(tool: AcceptedTool, result: JsonValue): Promise<void>;
  /** Merges what was collected into the files of observed results. */
  save(): Promise<void>;
}

export function createResultObserver(): ResultObserver {
  const allowed = new Map<string, Promise<boolean>>();
  const samplesOf = new Map<string, Map<string, JsonValue[]>>();
  let keptCharacters = 0;

  const isAllowed = (folder: string): Promise<boolean> => {
    const known = allowed.get(folder);
    if (known !== undefined) return known;
    const reading = import("@cem/tool-files").then(
      async ({ readObserved }) => (await readObserved(folder)) !== undefined,
    );
    allowed.set(folder, reading);
    return reading;
  };

  return {
    async observe({ folder, locked: { definition } }, result) {
      if (definition.outputSchema !== undefined || !(await isAllowed(folder))) return;
      const tools = samplesOf.get(folder) ?? new Map<string, JsonValue[]>();
      const samples = tools.get(definition.name) ?? [];
      if (samples.length >= MAX_SAMPLES) return;
      const { length } = JSON.stringify(result);
      if (length > MAX_SAMPLE_CHARACTERS || keptCharacters + length > MAX_ALL_CHARACTERS) return;
      keptCharacters += length;
      tools.set(definition.name, [...samples, result]);
      samplesOf.set(folder, tools);
    },
    async save() {
      if (samplesOf.size === 0) return;
      const { addObserved } = await import("@cem/tool-files");
      for (const [folder, samples] of samplesOf) await addObserved(folder, samples);
      samplesOf.clear();
      keptCharacters = 0;
    },
  };
}
