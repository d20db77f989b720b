import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import type { ParseError } from "jsonc-parser";
import { clientConfigFiles } from "./client-config-files.ts";
import type { ConfigFile, McpClientName, ClientConfigLocations } from "./client-config-files.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** A server found in the configuration of another MCP client. It was not started. */
export interface FoundServer {
  name: string;
  origin: {
    client: McpClientName;
    /** `project`: configured for the folder `project` only. */
    scope: "user" | "project";
    file: string;
    project?: string | undefined;
  };
  /**
   * The configuration entry as written there, with placeholders in the form `${VAR}` and not filled. It may hold
   * secrets: don't print its `env`, `headers` or `args`.
   */
  definition: Record<string, unknown>;
  /** Placeholders that only the other client can fill, such as `${input:token}`. */
  unresolved: string[];
}

/** What was found in the configuration of other MCP clients. */
export interface ClientConfigs {
  servers: FoundServer[];
  /** Files that exist and can't be read or parsed, with the reason. */
  problems: { file: string; message: string }[];
}

/**
 * Reads which MCP servers Claude Desktop, Claude Code, Cursor and VS Code are configured with. Starts and changes
 * nothing.
 *
 * @param locations where to look. Default: the home folder, working directory, platform and environment of this
 *   process.
 */
export async function readClientConfigs(
  locations: { [Key in keyof ClientConfigLocations]?: ClientConfigLocations[Key] | undefined } = {},
): Promise<ClientConfigs> {
  const full: ClientConfigLocations = {
    home: locations.home ?? homedir(),
    cwd: locations.cwd ?? process.cwd(),
    platform: locations.platform ?? process.platform,
    environment: locations.environment ?? process.env,
  };
  const found = await Promise.all(clientConfigFiles(full).map((file) => readConfig(file, full)));
  return {
    servers: found.flatMap(({ servers }) => servers),
    problems: found.flatMap(({ problems }) => problems),
  };
}

async function readConfig(config: ConfigFile, locations: ClientConfigLocations): Promise<ClientConfigs> {
  const { file } = config;
  const problem = (message: string): ClientConfigs => ({ servers: [], problems: [{ file, message }] });
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) return problem(`It has ${size} bytes, more than ${MAX_FILE_BYTES}.`);
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR"
      ? { servers: [], problems: [] }
      : problem(`It can't be read (${code}).`);
  }
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: ParseError[] = [];
  const data: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  if (errors[0] !== undefined) {
    const line = text.slice(0, errors[0].offset).split("\n").length;
    return problem(`It is not valid JSON at line ${line}: ${printParseErrorCode(errors[0].error)}.`);
  }
  return { servers: serversIn(data, config, locations), problems: [] };
}

function serversIn(data: unknown, config: ConfigFile, locations: ClientConfigLocations): FoundServer[] {
  const { client, file, scope, key } = config;
  const own = toFound(
    member(data, key),
    { client, scope, file, project: scope === "project" ? locations.cwd : undefined },
    locations,
  );
  if (client !== "claude-code" || scope === "project") return own;
  // Claude Code also keeps servers of single projects in the user's file.
  const projects = member(data, "projects");
  if (!isObject(projects)) return own;
  const inProjects = Object.entries(projects).flatMap(([project, value]) =>
    toFound(member(value, key), { client, scope: "project", file, project }, locations),
  );
  return [...own, ...inProjects];
}

function toFound(
  servers: unknown,
  origin: FoundServer["origin"],
  locations: ClientConfigLocations,
): FoundServer[] {
  if (!isObject(servers)) return [];
  return Object.entries(servers).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const folder = origin.project ?? locations.cwd;
    const unresolved = new Set<string>();
    const definition = translate(value, { folder, home: locations.home, unresolved }) as Record<
      string,
      unknown
    >;
    return [{ name, origin, definition, unresolved: [...unresolved] }];
  });
}

interface Translation {
  folder: string;
  home: string;
  unresolved: Set<string>;
}

/** Rewrites placeholders as `${VAR}`, fills those for folders, and collects those that can't be filled here. */
function translate(value: unknown, context: Translation): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{([^${}]+)\}/g, (whole, inner: string) => {
      if (inner === "workspaceFolder") return context.folder;
      if (inner === "userHome") return context.home;
      if (/^(?:env:)?[A-Za-z_][A-Za-z0-9_]*(?::-.*)?$/.test(inner))
        return `\${${inner.replace(/^env:/, "")}}`;
      context.unresolved.add(whole);
      return whole;
    });
  }
  if (Array.isArray(value)) return value.map((item) => translate(item, context));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, translate(inner, context)]));
}

function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
