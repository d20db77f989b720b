import type { ServerEntry } from "@cem/config/edit";
import { isObject } from "@cem/core";
import type { FoundServer } from "@cem/mcp-client";
import type { ServerSource } from "../options.ts";
import { createLog, logged } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";

/** The servers found, and the files that can't be read. */
export type Importable = Awaited<ReturnType<typeof findImportable>>;

/** A server found in the settings of another MCP client. */
export type ImportableServer = Importable["servers"][number];

/** Finds the servers that other MCP clients are set up with. Changes nothing. */
export async function findImportable(source: ServerSource = {}) {
  const [{ readClientConfigs }, { describeReach }] = await Promise.all([
    import("@cem/mcp-client"),
    import("@cem/config"),
  ]);
  const { config, folder } = await openProject(source);
  const log = createLog(config, source.onLog);
  const { servers, problems } = await logged(log, "reading the set-ups of other programs", () =>
    readClientConfigs({ cwd: folder }),
  );
  const taken = new Set(config.mcpServers.map(({ name }) => name));
  const met = new Set<string>();
  const found = servers.map((server) => {
    const { name, origin, unresolved, leftOut } = server;
    const entry = toEntry(server);
    const obstacle = obstacleTo(name, entry, { taken, met });
    if (obstacle === undefined) met.add(name);
    return {
      name,
      origin,
      /** The command with its arguments, or the address, without what looks like a secret. */
      reach: entry === undefined ? "" : describeReach(entry),
      variables: Object.keys({ ...(entry?.["env"] as object), ...(entry?.["headers"] as object) }),
      leftOut,
      /** For config.yaml. May hold secrets. */
      entry: entry ?? {},
      unresolved,
      obstacle,
    };
  });
  return { servers: found, problems };
}

/** Why a server is not imported. */
function obstacleTo(
  name: string,
  entry: ServerEntry | undefined,
  { taken, met }: { taken: ReadonlySet<string>; met: ReadonlySet<string> },
): "exists" | "same-name" | "incomplete" | undefined {
  if (taken.has(name)) return "exists";
  if (met.has(name)) return "same-name";
  return entry === undefined ? "incomplete" : undefined;
}

/** Takes the keys over that mean the same to every client. */
function toEntry({ definition, unresolved }: FoundServer): ServerEntry | undefined {
  const { command, args, env, cwd, url, headers, type, disabled } = definition;
  const isOff = disabled === true || unresolved.length > 0;
  const off = isOff ? { enabled: false } : {};
  if (typeof command === "string" && command !== "") {
    return {
      command,
      ...(isTexts(args) && args.length > 0 ? { args } : {}),
      ...filled("env", env),
      ...(typeof cwd === "string" ? { cwd } : {}),
      ...off,
    };
  }
  if (typeof url !== "string" || url === "") return undefined;
  return {
    url,
    ...(type === "sse" ? { type } : {}),
    ...filled("headers", headers),
    ...off,
  };
}

/** A mapping without its empty values, where anything is left of it. */
function filled(key: string, value: unknown): Record<string, unknown> {
  const entries = isObject(value) ? Object.entries(value).filter(([, text]) => text !== "") : [];
  return entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
