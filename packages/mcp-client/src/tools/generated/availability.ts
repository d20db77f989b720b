import { hash } from "node:crypto";
import path from "node:path";
import { authRequired, serverDisabled, toErrorInfo } from "@cem/core";
import type { ErrorInfo, ToolCatalog, ToolServer } from "@cem/core";
import type { ServerStatus } from "../../connection/connection-types.ts";
import type { McpServers } from "../servers/mcp-servers.ts";
import { toolChanged, type GeneratedFolder, type GeneratedParts } from "./generated-folders.ts";

/** Wraps a catalog to mark generated tools that are known to be unavailable. Connects to nothing. */
export function withAvailability(catalog: ToolCatalog, settings: GeneratedParts): ToolCatalog {
  const list: ToolCatalog["list"] = async (options) => {
    const snapshot = await catalog.list(options);
    const marks: [string, ErrorInfo][] = [];
    const statuses = settings.servers.openConnections()?.status() ?? [];
    const servers = await Promise.all(
      snapshot.servers.map(async (server): Promise<ToolServer> => {
        const reasonOf = server.kind === "host" ? await reasonsFor(server, settings, statuses) : undefined;
        if (reasonOf === undefined) return server;
        const tools = server.tools.map((tool) => {
          const unavailable = reasonOf(tool.originalName ?? tool.name);
          if (unavailable === undefined) return tool;
          marks.push([`${tool.server}.${tool.name}`, unavailable]);
          return { ...tool, unavailable };
        });
        return { ...server, tools };
      }),
    );
    if (marks.length === 0) return snapshot;
    const version = hash("sha256", JSON.stringify([snapshot.version, marks]), "base64url");
    return { ...snapshot, servers, version };
  };
  return { specificationVersion: "v1", list };
}

/** Returns why a tool can't be called, by its name at the server. */
type ReasonOf = (tool: string) => ErrorInfo | undefined;

/** @returns `undefined` if all tools of the server can be called, or none were generated. */
async function reasonsFor(
  server: ToolServer,
  settings: GeneratedParts,
  statuses: readonly ServerStatus[],
): Promise<ReasonOf | undefined> {
  const file = server.tools.find((tool) => tool.file !== undefined)?.file;
  const generated = file === undefined ? undefined : await settings.folders.read(path.dirname(file));
  if (generated === undefined) return undefined;
  const whole = serverReason(generated.lock.server.name, settings.servers, statuses);
  return whole === undefined ? toolReasons(generated, settings) : () => whole;
}

function serverReason(
  name: string,
  servers: McpServers,
  statuses: readonly ServerStatus[],
): ErrorInfo | undefined {
  const details = { server: name };
  const configured = servers.byName.get(name);
  if (configured === undefined) {
    return { code: "SERVER_NOT_FOUND", message: `The MCP server "${name}" is not configured.`, details };
  }
  if (configured.error !== undefined) return toErrorInfo(configured.error);
  if (!configured.enabled) return toErrorInfo(serverDisabled(name));
  const status = statuses.find((one) => one.name === name);
  if (status?.state === "auth-required") return status.lastError ?? toErrorInfo(authRequired(name));
  if (status?.state !== "down") return undefined;
  return status.lastError ?? { code: "SERVER_DOWN", message: `Server "${name}" is down.`, details };
}

async function toolReasons(
  { lock }: GeneratedFolder,
  { servers, folders, holdChanged }: GeneratedParts,
): Promise<ReasonOf | undefined> {
  const { name } = lock.server;
  const list = servers.openConnections()?.knownTools(name);
  if (list === undefined) return undefined;
  const { changed, removed } = await folders.compare(list, lock);
  const reasons = new Map<string, ErrorInfo>();
  for (const { definition } of removed) {
    const details = { server: name, tool: definition.name };
    const message = `Server "${name}" no longer has the tool "${definition.name}".`;
    reasons.set(definition.name, { code: "TOOL_REMOVED", message, details });
  }
  for (const { name: changedName, locked, differences } of holdChanged ? changed : []) {
    const places = differences.map(({ place }) => place);
    reasons.set(changedName, toErrorInfo(toolChanged(name, locked, places)));
  }
  return reasons.size === 0 ? undefined : (tool) => reasons.get(tool);
}
