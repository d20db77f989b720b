import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isObject } from "@cem/core";
import type { ParseError } from "jsonc-parser";
import { clientConfigFiles, pathsOf } from "./client-config-files.ts";
import type { ClientConfigLocations, ConfigFile, McpClientName } from "./client-config-files.ts";

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
   * The configuration entry in the keys `command`, `args`, `env`, `cwd`, `url`, `headers`, `type`, `disabled`, `auth` (as in
   * config.yaml) and `blockedTools`, with unresolved placeholders in the form `${VAR}`. It may hold secrets: don't print its
   * `env`, `headers` and `auth`.
   */
  definition: Record<string, unknown>;
  /** Keys of the original entry that were not converted, such as `envFile` and `timeout`. */
  leftOut: string[];
  /** Placeholders that only the other client can fill, such as `${input:token}`. */
  unresolved: string[];
}

/** The servers in the configuration of other MCP clients. */
export interface ClientConfigs {
  servers: FoundServer[];
  /** Files that exist and can't be read or parsed, with the reason. */
  problems: { file: string; message: string }[];
}

/**
 * Reads the MCP servers that are configured in Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Codex, Gemini
 * CLI and OpenCode. Starts and changes nothing.
 *
 * @param locations where to look. Default: the home folder, working directory, platform and environment of this
 *   process.
 */
export async function readClientConfigs(
  locations: { [Key in keyof ClientConfigLocations]?: ClientConfigLocations[Key] | undefined } = {},
): Promise<ClientConfigs> {
  const { home = homedir(), cwd = process.cwd(), platform = process.platform } = locations;
  const full = { home, cwd, platform, environment: locations.environment ?? process.env };
  const found = await Promise.all(clientConfigFiles(full).map((file) => readConfig(file, full)));
  const servers = found.flatMap((one) => one.servers);
  for (const server of servers)
    if (found.some(({ isOff }) => isOff(server))) server.definition["disabled"] = true;
  return { servers, problems: found.flatMap(({ problems }) => problems) };
}

interface ReadConfig extends ClientConfigs {
  /** Whether this file switches a server off, which may be in another file. */
  isOff: (server: FoundServer) => boolean;
}

async function readConfig(config: ConfigFile, locations: ClientConfigLocations): Promise<ReadConfig> {
  const { file } = config;
  const nothing: ReadConfig = { servers: [], problems: [], isOff: () => false };
  const problem = (message: string): ReadConfig => ({ ...nothing, problems: [{ file, message }] });
  const result = (data: unknown): ReadConfig => ({
    servers: serversIn(data, config, locations),
    problems: [],
    isOff: switchesOff(data, config, locations),
  });
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) return problem(`It has ${size} bytes, more than ${MAX_FILE_BYTES}.`);
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? nothing : problem(`It can't be read (${code}).`);
  }
  if (file.endsWith(".toml")) {
    const { parse: parseToml, TomlError } = await import("smol-toml");
    try {
      return result(parseToml(text));
    } catch (error) {
      // The parser's own message quotes the file, which may hold secrets.
      if (error instanceof TomlError) return problem(`It is not valid TOML at line ${error.line}.`);
      throw error;
    }
  }
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: ParseError[] = [];
  const data: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  if (errors[0] !== undefined) {
    const line = text.slice(0, errors[0].offset).split("\n").length;
    return problem(`It is not valid JSON at line ${line}: ${printParseErrorCode(errors[0].error)}.`);
  }
  return result(data);
}

function switchesOff(
  data: unknown,
  { client, scope }: ConfigFile,
  { cwd }: ClientConfigLocations,
): ReadConfig["isOff"] {
  if (client === "gemini") {
    const { allowed, excluded } = asObject(member(data, "mcp"));
    return ({ name, origin }) =>
      origin.client === client &&
      (isListed(excluded, name) || (Array.isArray(allowed) && !isListed(allowed, name)));
  }
  if (client !== "claude-code") return () => false;
  // Those of .mcp.json are approved or refused by name, in any of the settings.
  const isRefused = (settings: unknown, { name, origin }: FoundServer): boolean =>
    origin.file.endsWith(".mcp.json") && isListed(member(settings, "disabledMcpjsonServers"), name);
  const projects = scope === "user" ? asObject(member(data, "projects")) : {};
  return (server) => {
    const { name, origin } = server;
    if (origin.client !== client) return false;
    const project = member(projects, origin.project ?? cwd);
    return (
      isRefused(data, server) ||
      isRefused(project, server) ||
      isListed(member(project, "disabledMcpServers"), name)
    );
  };
}

function isListed(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

function serversIn(data: unknown, config: ConfigFile, locations: ClientConfigLocations): FoundServer[] {
  const { client, file, scope, key } = config;
  const found = member(data, key);
  // OpenCode 2 has them one level deeper.
  const nested = client === "opencode" ? member(found, "servers") : undefined;
  const project = scope === "project" ? locations.cwd : undefined;
  const own = toFound(nested ?? found, { client, scope, file, project }, locations);
  if (client !== "claude-code" || scope === "project") return own;
  // Claude Code also stores per-project servers in the user's file.
  const inProjects = Object.entries(asObject(member(data, "projects"))).flatMap(([folder, value]) =>
    toFound(member(value, key), { client, scope: "project", file, project: folder }, locations),
  );
  return [...own, ...inProjects];
}

function toFound(
  servers: unknown,
  origin: FoundServer["origin"],
  locations: ClientConfigLocations,
): FoundServer[] {
  return Object.entries(asObject(servers)).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const folder = origin.project ?? locations.cwd;
    const unresolved = new Set<string>();
    const { definition: written, leftOut } = translateDefinition(origin.client, value);
    const context = { client: origin.client, fill: placeholders(folder, locations), unresolved };
    const definition = translate(written, context) as Record<string, unknown>;
    return [{ name, origin, definition, leftOut, unresolved: [...unresolved] }];
  });
}

function placeholders(folder: string, { home, platform }: ClientConfigLocations): Translation["fill"] {
  const paths = pathsOf(platform);
  return new Map([
    ["workspaceFolder", folder],
    ["workspaceFolderBasename", paths.basename(folder)],
    ["CLAUDE_PROJECT_DIR", folder],
    ["userHome", home],
    ["pathSeparator", paths.sep],
    ["/", paths.sep],
  ]);
}

interface Translation {
  client: McpClientName;
  fill: ReadonlyMap<string, string>;
  unresolved: Set<string>;
}

/** Rewrites placeholders as `${VAR}`, fills those for folders, and collects those that can't be filled here. */
function translate(value: unknown, context: Translation): unknown {
  if (typeof value === "string") {
    return withBraces(value, context.client).replace(/\$\{([^${}]+)\}/g, (whole, inner: string) => {
      const known = context.fill.get(inner.split(":-", 1)[0] ?? "");
      if (known !== undefined) return known;
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

/** Converts other placeholder syntaxes to `${…}`. */
function withBraces(text: string, client: McpClientName): string {
  if (client === "gemini") return text.replaceAll(/\$([A-Za-z_]\w*)/g, "${$1}");
  if (client === "opencode") return text.replaceAll(/(?<!\$)\{((?:env|file):[^{}]+)\}/g, "${$1}");
  return text;
}

function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

type Definition = Record<string, unknown>;

/** Keys with the same meaning in config.yaml. */
const SHARED = new Set(["command", "args", "env", "cwd", "url", "headers", "type", "disabled"]);
/** Keys that are irrelevant for reaching the server. */
const SILENT = new Set(["$schema", "source", "name", "description", "gallery", "version"]);
/** Lists of tools that may not be used, in any program. Lists of those that may have no like here. */
const BLOCKED_TOOLS = new Set(["disabledTools", "disabled_tools", "excludeTools"]);
const SIGN_IN = new Set(["auth", "oauth"]);
/** The keys of a sign-in in config.yaml, by those of any program in small letters and without `_`. */
const SIGN_IN_KEYS = new Map([
  ["clientid", "client_id"],
  ["clientsecret", "client_secret"],
  ["callbackport", "callback_port"],
  ["scope", "scopes"],
  ["scopes", "scopes"],
]);

const REWRITE: Partial<Record<McpClientName, (entry: Definition) => Definition>> = {
  windsurf: ({ serverUrl, ...rest }) => ({ ...rest, url: serverUrl ?? rest["url"] }),
  zed({ enabled, command, ...rest }) {
    const old = isObject(command)
      ? { command: command["path"], args: command["args"], env: command["env"] }
      : { command };
    return { ...old, ...rest, disabled: enabled === false };
  },
  gemini: ({ httpUrl, ...rest }) => (httpUrl === undefined ? rest : { ...rest, url: httpUrl, type: "http" }),
  codex({
    enabled,
    env_vars: passed,
    env,
    bearer_token_env_var: token,
    http_headers: headers,
    env_http_headers: named,
    ...rest
  }) {
    return {
      ...rest,
      env: { ...references(passed), ...asObject(env) },
      headers: {
        ...asObject(headers),
        ...Object.fromEntries(
          Object.entries(asObject(named)).map(([name, variable]) => [name, `\${${String(variable)}}`]),
        ),
        ...(typeof token === "string" ? { Authorization: `Bearer \${${token}}` } : {}),
      },
      disabled: enabled === false,
    };
  },
  opencode({ enabled, disabled, command, environment, type: _type, ...rest }) {
    const [program, ...args]: unknown[] = Array.isArray(command) ? command : [command];
    return {
      ...rest,
      command: program,
      args,
      env: environment,
      disabled: enabled === false || disabled === true,
    };
  },
};

/** Converts an entry of another program to our keys. Also returns the names of keys without an equivalent. */
function translateDefinition(
  client: McpClientName,
  entry: Definition,
): Pick<FoundServer, "definition" | "leftOut"> {
  const { type, ...rewritten } = (REWRITE[client] ?? ((same) => same))(entry);
  const definition: Definition = {};
  const leftOut: string[] = [];
  for (const [key, value] of Object.entries(rewritten)) {
    if (value === undefined || SILENT.has(key)) continue;
    if (SHARED.has(key)) definition[key] = value;
    else if (BLOCKED_TOOLS.has(key) && isTexts(value)) definition["blockedTools"] = value;
    else if (SIGN_IN.has(key) && isObject(value)) {
      const signIn = translateSignIn(value);
      definition["auth"] = signIn.auth;
      leftOut.push(...signIn.leftOut.map((inner) => `${key}.${inner}`));
    } else leftOut.push(key);
  }
  if (type !== undefined) definition["type"] = type;
  return { definition, leftOut };
}

function translateSignIn(entry: Definition): { auth: Definition; leftOut: string[] } {
  const auth: Definition = {};
  const leftOut: string[] = [];
  for (const [key, value] of Object.entries(entry)) {
    const name = SIGN_IN_KEYS.get(key.replaceAll("_", "").toLowerCase());
    if (name === undefined) leftOut.push(key);
    // Scopes may be one text, with spaces between them.
    else auth[name] = name === "scopes" && typeof value === "string" ? (value.match(/\S+/gu) ?? []) : value;
  }
  return { auth, leftOut };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function references(names: unknown): Record<string, string> {
  const texts = (Array.isArray(names) ? names : []).filter((name) => typeof name === "string");
  return Object.fromEntries(texts.map((name) => [name, `\${${name}}`]));
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
