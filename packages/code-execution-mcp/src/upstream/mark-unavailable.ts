import { hash } from "node:crypto";
import path from "node:path";
import type { CatalogSnapshot, ToolDefinition, ToolServer } from "@cem/core";
import type { Upstream } from "./create-upstream.ts";
import type { GeneratedFolder } from "./generated-folders.ts";
import { heldBack } from "./tool-changes.ts";

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
      reason: `no MCP server "${name}" is configured`,
      hint: `Add it with  cem add ${name} …  or remove its files with  cem remove ${name}`,
    };
  }
  if (known.error !== undefined) return { reason: known.error.message, hint: "See  cem servers" };
  if (!known.enabled) {
    return { reason: `server "${name}" is switched off`, hint: "Set its enabled: true" };
  }
  const status = upstream
    .connectionsSoFar()
    ?.status()
    .find((one) => one.name === name);
  switch (status?.state) {
    case "auth-required":
      return { reason: `server "${name}" wants a sign-in`, hint: `Sign in with  cem auth ${name}` };
    case "down":
      return {
        reason: status.lastError?.message ?? `server "${name}" is down`,
        hint: "cem servers  tries it again",
      };
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
      reason: `server "${name}" no longer has it`,
      hint: `Bring the files up to date with  cem generate ${name}`,
    });
  }
  for (const change of upstream.holdsChanges ? changed : []) {
    const tool = locked.get(change.name);
    const places = change.differences.map(({ place }) => place);
    if (tool !== undefined) reasons.set(change.name, heldBack(name, tool, places));
  }
  return reasons.size === 0 ? undefined : (tool) => reasons.get(tool);
}
