import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { parse, printParseErrorCode } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";
import { clientConfigFiles } from "./client-config-files.ts";
import type { ConfigFile, McpClientName, ClientConfigLocations } from "./client-config-files.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** A server that another program is set up with. Nothing of it was started. */
export interface FoundServer {
  name: string;
  origin: {
    client: McpClientName;
    /** `project`: for the folder `project` only. */
    scope: "user" | "project";
    file: string;
    project?: string | undefined;
  };
  /**
   * The entry as it stands there, with `${VAR}` left in place. It may hold secrets that the user wrote there:
   * don't print its `env`, `headers` or `args`.
   */
  definition: Record<string, unknown>;
  /** What the other program fills in and we can't, such as `${input:token}`. */
  unresolved: string[];
}

export interface ClientConfigs {
  servers: FoundServer[];
  /** Files that are there and can't be read. */
  problems: { file: string; message: string }[];
}

/** Reads what Claude Desktop, Claude Code, Cursor and VS Code are set up with. Starts and changes nothing. */
export async function readClientConfigs(places: Partial<ClientConfigLocations> = {}): Promise<ClientConfigs> {
  const full: ClientConfigLocations = {
    home: homedir(),
    cwd: process.cwd(),
    platform: process.platform,
    environment: process.env,
    ...places,
  };
  const found = await Promise.all(clientConfigFiles(full).map((file) => readConfig(file, full)));
  return {
    servers: found.flatMap(({ servers }) => servers),
    problems: found.flatMap(({ problems }) => problems),
  };
}

async function readConfig(config: ConfigFile, places: ClientConfigLocations): Promise<ClientConfigs> {
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
  const errors: ParseError[] = [];
  const data: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  if (errors[0] !== undefined) {
    const line = text.slice(0, errors[0].offset).split("\n").length;
    return problem(`It is not valid JSON at line ${line}: ${printParseErrorCode(errors[0].error)}.`);
  }
  return { servers: serversIn(data, config, places), problems: [] };
}

function serversIn(data: unknown, config: ConfigFile, places: ClientConfigLocations): FoundServer[] {
  const { client, file, scope, key } = config;
  const own = toFound(
    member(data, key),
    { client, scope, file, ...(scope === "project" ? { project: places.cwd } : {}) },
    places,
  );
  if (client !== "claude-code" || scope === "project") return own;
  // Claude Code keeps what belongs to a folder in the user's file too.
  const projects = member(data, "projects");
  if (!isObject(projects)) return own;
  const inProjects = Object.entries(projects).flatMap(([project, value]) =>
    toFound(member(value, key), { client, scope: "project", file, project }, places),
  );
  return [...own, ...inProjects];
}

function toFound(
  servers: unknown,
  origin: FoundServer["origin"],
  places: ClientConfigLocations,
): FoundServer[] {
  if (!isObject(servers)) return [];
  return Object.entries(servers).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const folder = origin.project ?? places.cwd;
    const unresolved = new Set<string>();
    const definition = translate(value, { folder, home: places.home, unresolved }) as Record<string, unknown>;
    return [{ name, origin, definition, unresolved: [...unresolved] }];
  });
}

interface Translation {
  folder: string;
  home: string;
  unresolved: Set<string>;
}

/** Writes the placeholders of the other program as ours, or notes them. */
function translate(value: unknown, context: Translation): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{([^}]+)\}/g, (whole, inner: string) => {
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
