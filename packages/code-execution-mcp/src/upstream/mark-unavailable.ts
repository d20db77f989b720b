import { hash } from "node:crypto";
import path from "node:path";
import { toErrorInfo } from "@cem/core";
import type { CatalogSnapshot, ToolDefinition, ToolServer } from "@cem/core";
import type { Upstream } from "./create-upstream.ts";
import type { GeneratedFolder } from "./generated-folders.ts";
import { toolChanged } from "./tool-changes.ts";

type Unavailable = NonNullable<ToolDefinition["unavailable"]>;

/** Says of each generated tool why it can't be called, as far as that is known now. Waits for no server. */
export async function markUnavailable(
  snapshot: CatalogSnapshot,
  upstream: Upstream,
): Promise<CatalogSnapshot> {
  const marks: [string, Unavailable][] = [];
  const servers = await Promise.all(
    snapshot.servers.map(async (server): Promise<ToolServer> => {
      const reasons = server.kind === "host" ? await reasonsFor(server, upstream) : undefined;
      if (reasons === undefined) return server;
      const tools = server.tools.map((tool) => {
        const unavailable = reasons(tool.originalName ?? tool.name);
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
}

type Reasons = (tool: string) => Unavailable | undefined;

/** `undefined`: all of its tools can be called, or it is none of ours. */
async function reasonsFor(server: ToolServer, upstream: Upstream): Promise<Reasons | undefined> {
  const file = server.tools.find((tool) => tool.file !== undefined)?.file;
  const generated = file === undefined ? undefined : await upstream.folders.read(path.dirname(file));
  if (generated === undefined) return undefined;
  const whole = wholeServer(generated, upstream);
  if (whole !== undefined) return () => whole;
  return singleTools(generated, upstream);
}

function wholeServer({ lock }: GeneratedFolder, upstream: Upstream): Unavailable | undefined {
  const { name } = lock.server;
  const known = upstream.servers.get(name);
  if (known === undefined) {
    return {
      code: "SERVER_NOT_FOUND",
      message: `The MCP server "${name}" is not configured.`,
      details: { server: name },
    };
  }
  if (known.error !== undefined) return toErrorInfo(known.error);
  if (!known.enabled) {
    return {
      code: "SERVER_DISABLED",
      message: `Server "${name}" is switched off.`,
      details: { server: name },
    };
  }
  const status = upstream
    .connectionsSoFar()
    ?.status()
    .find((one) => one.name === name);
  switch (status?.state) {
    case "auth-required":
      return {
        code: "AUTH_REQUIRED",
        message: `Server "${name}" requires authorization.`,
        details: { server: name },
      };
    case "down":
      return (
        status.lastError ?? {
          code: "SERVER_DOWN",
          message: `Server "${name}" is down.`,
          details: { server: name },
        }
      );
    default:
      return undefined;
  }
}

async function singleTools(
  { lock, locked }: GeneratedFolder,
  upstream: Upstream,
): Promise<Reasons | undefined> {
  const { name } = lock.server;
  const list = upstream.connectionsSoFar()?.knownTools(name);
  if (list === undefined) return undefined;
  const { changed, removed } = await upstream.changes.compare(list, lock);
  const reasons = new Map<string, Unavailable>();
  for (const { definition } of removed) {
    reasons.set(definition.name, {
      code: "TOOL_REMOVED",
      message: `Server "${name}" no longer has the tool "${definition.name}".`,
      details: { server: name, tool: definition.name },
    });
  }
  for (const change of upstream.holdsChanges ? changed : []) {
    const tool = locked.get(change.name);
    const places = change.differences.map(({ place }) => place);
    if (tool !== undefined) reasons.set(change.name, toErrorInfo(toolChanged(name, tool, places)));
  }
  return reasons.size === 0 ? undefined : (tool) => reasons.get(tool);
}
