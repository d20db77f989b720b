import type { KnownTool, ToolSource } from "@cem/bridge";
import { CemError, Lazy } from "@cem/core";
import type { LockComparison } from "@cem/tool-files";
import type { ToolList } from "../../connection/connection-types.ts";
import type { McpToolSourceSettings } from "../../invoker.ts";
import { toolChanged, type GeneratedFolder, type GeneratedParts } from "./generated-folders.ts";

interface GeneratedToolSourceSettings
  extends GeneratedParts, Pick<McpToolSourceSettings, "store" | "onUnvalidated"> {}

interface ReadServer {
  folder: string;
  generated: GeneratedFolder;
  list: ToolList;
  changed: LockComparison["changed"];
}

/** Creates the source of generated tools for the bridge. Each tool is called by its accepted definition. */
export function createGeneratedToolSource(settings: GeneratedToolSourceSettings): ToolSource {
  const { servers, folders, holdChanged, store, onUnvalidated } = settings;
  const read = new Map<string, ReadServer>();

  const readServer = async (server: string, tool: string): Promise<KnownTool | undefined> => {
    const connections = await servers.connectionsFor(server);
    // The connections report a server that does not exist.
    if (!servers.byName.has(server)) return undefined;
    const folder = await servers.folderOf(server);
    const generated = await folders.read(folder);
    const list = await connections.listTools(server);
    if (generated === undefined) throw notGenerated(server, tool);
    const { changed } = await folders.compare(list, generated.lock);
    const found = { folder, generated, list, changed };
    read.set(server, found);
    return toolOf(server, tool, found);
  };

  const toolOf = (server: string, tool: string, found: ReadServer): KnownTool | undefined => {
    const locked = found.generated.locked.get(tool);
    const listed = found.list.byName.get(tool);
    if (locked === undefined) {
      if (listed === undefined) return undefined;
      throw notGenerated(server, tool);
    }
    const change = found.changed.find((one) => one.name === tool);
    if (change !== undefined && holdChanged) {
      const places = change.differences.map(({ place }) => place);
      throw toolChanged(server, locked, places);
    }
    return listed;
  };

  const isCurrent = (server: string, { folder, generated, list }: ReadServer): boolean =>
    servers.openConnections()?.currentTools(server) === list && folders.current(folder) === generated;

  const source = new Lazy(async (): Promise<ToolSource> => {
    const { createMcpToolSource } = await import("../../invoker.ts");
    const connections = await servers.connections();
    return createMcpToolSource(connections, {
      findTool(server, tool) {
        const known = read.get(server);
        return known !== undefined && isCurrent(server, known)
          ? toolOf(server, tool, known)
          : readServer(server, tool);
      },
      store,
      onUnvalidated,
    });
  });

  return {
    specificationVersion: "v1",
    find: (call, signal) =>
      source.current === undefined
        ? source.get().then((tools) => tools.find(call, signal))
        : source.current.find(call, signal),
    invoke: (call, context) =>
      source.current?.invoke(call, context) ?? source.get().then((tools) => tools.invoke(call, context)),
  };
}

function notGenerated(server: string, tool: string): CemError {
  const message = `No file was generated for the tool "${tool}" of server "${server}".`;
  return new CemError("TOOL_NOT_GENERATED", message, { details: { server, tool } });
}
