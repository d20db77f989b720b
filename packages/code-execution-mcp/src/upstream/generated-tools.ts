import type { KnownTool, ToolSource } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { ResultStore } from "@cem/core";
import type { Upstream } from "./create-upstream.ts";
import { createResultObserver } from "./result-observer.ts";
import { toolChanged } from "./tool-changes.ts";

/** Generated tools as the bridge calls them. */
export interface GeneratedTools extends ToolSource {
  /** Keeps what was learned of their results. */
  save(): Promise<void>;
}

/** The generated tools of MCP servers, each as it was accepted: what changed since is not found. */
export function createGeneratedTools(
  upstream: Pick<Upstream, "servers" | "holdsChanges" | "folders" | "changes" | "folderOf" | "connections">,
  store: ResultStore | undefined,
): GeneratedTools {
  const { servers, holdsChanges, folders, changes, folderOf, connections } = upstream;
  const observer = createResultObserver();
  let loading: Promise<ToolSource> | undefined;

  const findTool = async (server: string, tool: string): Promise<KnownTool | undefined> => {
    const live = await connections();
    const { error } = servers.get(server) ?? {};
    if (error !== undefined) throw error;
    // The connections know what to say of a server that does not exist.
    if (!servers.has(server)) return undefined;
    const generated = await folders.read(await folderOf(server));
    const locked = generated?.locked.get(tool);
    const list = await live.listTools(server);
    const listed = list.tools.find(({ name }) => name === tool);
    if (generated === undefined || locked === undefined) {
      if (generated !== undefined && listed === undefined) return undefined;
      throw notGenerated(server, tool);
    }
    const { changed } = await changes.compare(list, generated.lock);
    const change = changed.find(({ name }) => name === tool);
    if (change === undefined || !holdsChanges) return listed;
    const places = change.differences.map(({ place }) => place);
    throw toolChanged(server, locked, places);
  };

  const load = async (): Promise<ToolSource> => {
    const { createMcpTools } = await import("@cem/mcp-client");
    return createMcpTools(await connections(), { findTool, ...(store === undefined ? {} : { store }) });
  };

  return {
    specificationVersion: "v1",
    async find(call, signal) {
      return (await (loading ??= load())).find(call, signal);
    },
    async invoke(call, context) {
      const result = await (await (loading ??= load())).invoke(call, context);
      if (result.ok && servers.has(call.server)) {
        const folder = await folderOf(call.server);
        const generated = await folders.read(folder);
        if (generated !== undefined) await observer.see(folder, generated, call.tool, result.value);
      }
      return result;
    },
    save: () => observer.save(),
  };
}

function notGenerated(server: string, tool: string): CemError {
  return new CemError(
    "TOOL_NOT_FOUND",
    `No file was generated for the tool "${tool}" of server "${server}". Make it with  cem generate ${server}`,
    { details: { server, tool } },
  );
}
