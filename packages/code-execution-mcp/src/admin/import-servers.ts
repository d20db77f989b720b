import type { ServerEntry } from "@cem/config/edit";
import { isObject } from "@cem/core";
import type { FoundServer } from "@cem/mcp-client";
import type { ServerSource } from "../options.ts";
import { logged } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";
import type { Project } from "../wiring/project.ts";
import { openLog } from "./servers.ts";

/** A server found in the settings of another MCP client. */
export interface ImportableServer {
  name: string;
  origin: FoundServer["origin"];
  /** The command with its arguments, or the address. Text that looks like a secret is left out. */
  reach: string;
  /** The names of its environment variables or headers, and the keys of its sign-in, such as `auth.client_id`. */
  variables: string[];
  /** Its tools that can't be used in the other program, as patterns for `guardrails.blocked_tools`. */
  blockedTools: string[];
  /** Keys of the other program that are not imported, such as `envFile`. */
  leftOut: string[];
  /** The entry for config.yaml. May hold secrets. */
  entry: ServerEntry;
  /** Why it is not imported. */
  obstacle?: "exists" | "same-name" | "incomplete" | "refused" | undefined;
  /** Why the entry is refused, as a sentence. */
  refusal?: string | undefined;
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
  await using project = await openProject(source);
  const { config, folder } = project;
  const log = await openLog(project, source);
  const { servers, problems } = await logged(log, "reading the set-ups of other programs", () =>
    readClientConfigs({ cwd: folder }),
  );
  const taken = new Set(config.mcpServers.map(({ name }) => name));
  const met = new Set<string>();
  const found: ImportableServer[] = [];
  for (const server of servers) {
    const { name, origin, unresolved, leftOut } = server;
    const entry = toEntry(server);
    const { env, headers, auth } = entry ?? {};
    const refusal = entry && (await refusalOf(name, entry, project));
    const refused = refusal === undefined ? undefined : "refused";
    const unusable = entry === undefined ? "incomplete" : refused;
    const obstacle = taken.has(name) ? "exists" : met.has(name) ? "same-name" : unusable;
    if (obstacle === undefined) met.add(name);
    found.push({
      name,
      origin,
      reach: entry === undefined || refusal !== undefined ? "" : describeReach(entry),
      variables: [
        ...Object.keys({ ...(env as object), ...(headers as object) }),
        ...Object.keys({ ...(auth as object) }).map((key) => `auth.${key}`),
      ],
      blockedTools: ((server.definition["blockedTools"] ?? []) as string[]).map((tool) => `${name}.${tool}`),
      leftOut,
      entry: entry ?? {},
      unresolved,
      obstacle,
      refusal,
    });
  }
  return { servers: found, problems };
}

/**
 * Copies the keys that have the same meaning in every client. Other values than config.yaml takes are copied too: a server
 * without them would be another one, so its entry is refused.
 */
function toEntry({ definition, unresolved }: FoundServer): ServerEntry | undefined {
  const { command, args, env, cwd, url, headers, auth, type, disabled } = definition;
  const isOff = disabled === true || unresolved.length > 0;
  const off = isOff ? { enabled: false } : {};
  if (typeof command === "string" && command !== "")
    return { command, ...filled({ args: asTexts(args), env, cwd }), ...off };
  if (typeof url !== "string" || url === "") return undefined;
  return { url, ...(type === "sse" ? { type } : {}), ...filled({ headers, auth }), ...off };
}

const EMPTY = new Set([undefined, "null", '""', "[]", "{}"]);

/** Settings without empty ones, and mappings in them without empty values. */
function filled(settings: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(settings).map(([key, value]) => {
    if (!isObject(value)) return [key, value] as const;
    return [key, Object.fromEntries(Object.entries(value).filter(([, text]) => text !== ""))] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => !EMPTY.has(JSON.stringify(value))));
}

/** Numbers in a list as text, as those among variables are taken. */
function asTexts(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) =>
    typeof item === "number" || typeof item === "boolean" ? `${item}` : item,
  );
}

/** Why config.yaml does not take an entry, or why its URL can't be connected to. */
async function refusalOf(
  name: string,
  entry: ServerEntry,
  { pluginSet }: Project,
): Promise<string | undefined> {
  const { addServer, findProblems } = await import("@cem/config/edit");
  const [problem] = await findProblems(addServer("", name, entry), "");
  if (problem !== undefined) return `${problem.path.replace(`mcpServers.${name}.`, "")} ${problem.message}`;
  const { url } = entry;
  const [, scheme] = /^(?!https?:)([a-z][a-z\d+.-]*):/iu.exec(typeof url === "string" ? url : "") ?? [];
  if (scheme === undefined || (await pluginSet?.get())?.transports.has(scheme.toLowerCase()))
    return undefined;
  return `url begins with ${scheme}:, and cem connects to http: and https: only.`;
}
