import type { McpClientName } from "./client-config-files.ts";

/** An entry of another program in the keys that this one has, and the names of the keys that have no like here. */
export interface TranslatedDefinition {
  definition: Record<string, unknown>;
  leftOut: string[];
}

type Definition = Record<string, unknown>;

/** What config.yaml has too, with the same meaning. */
const SHARED = new Set(["command", "args", "env", "cwd", "url", "headers", "type", "disabled"]);
/** Keys that say nothing about how the server is reached. */
const SILENT = new Set(["$schema", "source", "name", "description", "gallery", "version"]);

/** Rewrites an entry as most programs would write it. */
const REWRITE: Partial<Record<McpClientName, (entry: Definition) => Definition>> = {
  windsurf: ({ serverUrl, ...rest }) => ({ ...rest, url: serverUrl ?? rest["url"] }),
  zed({ enabled, command, ...rest }) {
    const old = isRecord(command)
      ? { command: command["path"], args: command["args"], env: command["env"] }
      : { command };
    return { ...old, ...rest, disabled: enabled === false };
  },
  gemini: ({ httpUrl, url, ...rest }) =>
    httpUrl === undefined
      ? { ...rest, url, type: url === undefined ? undefined : "sse" }
      : { ...rest, url: httpUrl },
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

/** Translates an entry of another program. */
export function translateDefinition(client: McpClientName, entry: Definition): TranslatedDefinition {
  const { type, ...rewritten } = (REWRITE[client] ?? ((same) => same))(entry);
  const definition: Definition = {};
  const leftOut: string[] = [];
  for (const [key, value] of Object.entries(rewritten)) {
    if (value === undefined || SILENT.has(key)) continue;
    if (SHARED.has(key)) definition[key] = value;
    else leftOut.push(key);
  }
  if (type !== undefined) definition["type"] = type;
  return { definition, leftOut };
}

/** Variables that are passed on under their own names. */
function references(names: unknown): Record<string, string> {
  const texts = (Array.isArray(names) ? names : []).filter((name) => typeof name === "string");
  return Object.fromEntries(texts.map((name) => [name, `\${${name}}`]));
}

function asObject(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Whether a value is an object and no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
