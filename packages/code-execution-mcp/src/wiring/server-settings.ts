import type { McpServerSetting, Secret, ServerAuthSetting } from "@cem/config";
import type { McpTransportProvider } from "@cem/core";
import type { AuthSettings, McpServerSettings, TransportSettings } from "@cem/mcp-client";

const MS_PER_SECOND = 1_000;

interface ServerSettingsOptions {
  minConnectTimeoutMs: number;
  /** The folder that commands start in unless `cwd` names another. */
  folder?: string | undefined;
  /** Plugins' transports by the scheme of the URLs that they connect to. */
  transports?: ReadonlyMap<string, McpTransportProvider> | undefined;
}

/** Maps a server of the configuration to settings of the MCP client. `${NAME}` stays in place. */
export function toServerSettings(
  setting: McpServerSetting,
  { minConnectTimeoutMs, folder, transports }: ServerSettingsOptions,
): McpServerSettings {
  const { name, enabled, timeout, metadata, concurrency, writes, protocol } = setting;
  const { connections, maxConnections } = setting;
  const timeoutMs = Math.ceil(timeout * MS_PER_SECOND);
  const auth = setting.connectionType === "stdio" ? undefined : setting.auth;
  return {
    name,
    transport: toTransport(setting, folder, transports),
    enabled,
    timeoutMs,
    connectTimeoutMs: Math.max(timeoutMs, minConnectTimeoutMs),
    metadata,
    concurrency,
    writes,
    protocol,
    connections,
    maxConnections,
    auth: auth === undefined ? undefined : toAuth(auth),
  };
}

/** The scheme of a URL says which plugin connects to it, if any. */
function toTransport(
  setting: McpServerSetting,
  folder?: string,
  transports?: ReadonlyMap<string, McpTransportProvider>,
): TransportSettings {
  if (setting.connectionType !== "stdio") {
    const { connectionType, url, headers } = setting;
    const [, scheme = ""] = /^([a-z][a-z\d+.-]*):/iu.exec(url) ?? [];
    const provider = transports?.get(scheme.toLowerCase());
    if (provider !== undefined) return { kind: "custom", url, headers: reveal(headers), provider };
    return { kind: connectionType === "sse" ? "sse" : "http", url, headers: reveal(headers) };
  }
  const { command, args, env, cwd = folder } = setting;
  return { kind: "stdio", command, args, env: reveal(env), cwd };
}

function toAuth({ clientSecret, ...rest }: ServerAuthSetting): AuthSettings {
  return (
    clientSecret === undefined ? rest : { ...rest, clientSecret: clientSecret.reveal() }
  ) as AuthSettings;
}

function reveal(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}
