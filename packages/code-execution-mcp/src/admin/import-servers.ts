import type { ServerEntry } from "@cem/config/edit";
import { isObject } from "@cem/core";
import type { FoundServer } from "@cem/mcp-client";
import type { ServerSource } from "../options.ts";
import { createLog, logged } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";

/** A server found in the settings of another MCP client. */
export interface ImportableServer {
  name: string;
  origin: FoundServer["origin"];
  /** The command with its arguments, or the address. Text that looks like a secret is left out. */
  reach: string;
  /** The names of its environment variables or headers. */
  variables: string[];
  /** Keys of the other program that are not imported, such as `envFile`. */
  leftOut: string[];
  /** The entry for config.yaml. May hold secrets. */
  entry: ServerEntry;
  /** Why it is not imported. */
  obstacle?: "exists" | "same-name" | "incomplete" | undefined;
  /** Placeholders that only the other client can fill, such as `${input:token}`. If there are any, the entry is disabled. */
  unresolved: string[];
}

/** The servers found, and the files that could not be read. */
export interface Importable {
  servers: ImportableServer[];
  problems: { file: string; message: string }[];
}

/** Finds the servers that other MCP clients are set up with. Changes nothing. */
export async function findImportable(source: ServerSource = {}): Promise<Importable> {
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
  const found = servers.map((server): ImportableServer => {
    const { name, origin, unresolved, leftOut } = server;
    const entry = toEntry(server);
    const isIncomplete = entry === undefined ? "incomplete" : undefined;
    const obstacle = taken.has(name) ? "exists" : met.has(name) ? "same-name" : isIncomplete;
    if (obstacle === undefined) met.add(name);
    return {
      name,
      origin,
      reach: entry === undefined ? "" : describeReach(entry),
      variables: Object.keys({ ...(entry?.["env"] as object), ...(entry?.["headers"] as object) }),
      leftOut,
      entry: entry ?? {},
      unresolved,
      obstacle,
    };
  });
  return { servers: found, problems };
}

/** Copies the keys that have the same meaning in every client. */
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

/** A mapping without its empty values, or nothing if it has no others. */
function filled(key: string, value: unknown): Record<string, unknown> {
  const entries = isObject(value) ? Object.entries(value).filter(([, text]) => text !== "") : [];
  return entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
