import type { KnownTool, OnUnvalidated, ToolSource } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { ResultStore } from "@cem/core";
import { connectionsFor } from "../servers/mcp-servers.ts";
import { toolChanged } from "./generated-folders.ts";
import type { GeneratedParts } from "./generated-folders.ts";

export interface GeneratedToolSourceSettings extends GeneratedParts {
  /** Keeps images, other bytes and large results. */
  store?: ResultStore | undefined;
  /** Receives each tool whose results can't be checked, once, with the reason. */
  onUnvalidated?: OnUnvalidated | undefined;
}

/** Makes the source of generated tools, for the bridge to call. Each is called as it was accepted. */
export function createGeneratedToolSource(settings: GeneratedToolSourceSettings): ToolSource {
  const { servers, folders, holdChanged, store, onUnvalidated } = settings;
  let loading: Promise<ToolSource> | undefined;

  const findTool = async (server: string, tool: string): Promise<KnownTool | undefined> => {
    const connections = await connectionsFor(server, servers);
    // The connections report a server that does not exist.
    if (!servers.byName.has(server)) return undefined;
    const generated = await folders.read(await servers.folderOf(server));
    const locked = generated?.locked.get(tool);
    const list = await connections.listTools(server);
    const listed = list.byName.get(tool);
    if (generated === undefined || locked === undefined) {
      if (generated !== undefined && listed === undefined) return undefined;
      throw notGenerated(server, tool);
    }
    const { changed } = await folders.compare(list, generated.lock);
    const change = changed.find((one) => one.name === tool);
    if (change !== undefined && holdChanged) {
      const places = change.differences.map(({ place }) => place);
      throw toolChanged(server, locked, places);
    }
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
      return tools.invoke(call, context);
    },
  };
}

function notGenerated(server: string, tool: string): CemError {
  return new CemError(
    "TOOL_NOT_GENERATED",
    `No file was generated for the tool "${tool}" of server "${server}".`,
    { details: { server, tool } },
  );
}
