import type { McpServerSetting, Secret, ServerAuthSetting } from "@cem/config";
import type { AuthSettings, McpServerSettings, TransportSettings } from "@cem/mcp-client";

const MS_PER_SECOND = 1_000;

/** A server of the configuration in the terms of the MCP client. `${NAME}` is still in its place. */
export function toServerSettings(setting: McpServerSetting, minConnectTimeoutMs: number): McpServerSettings {
  const { name, enabled, timeout, metadata, concurrency, protocol } = setting;
  const timeoutMs = Math.ceil(timeout * MS_PER_SECOND);
  const settings: McpServerSettings = {
    name,
    transport: toTransport(setting),
    enabled,
    timeoutMs,
    connectTimeoutMs: Math.max(timeoutMs, minConnectTimeoutMs),
    metadata,
  };
  if (concurrency !== undefined) settings.concurrency = concurrency;
  if (protocol !== undefined) settings.protocol = protocol;
  if (setting.connectionType !== "stdio" && setting.auth !== undefined) settings.auth = toAuth(setting.auth);
  return settings;
}

function toTransport(setting: McpServerSetting): TransportSettings {
  if (setting.connectionType !== "stdio") {
    const { connectionType, url, headers } = setting;
    return { kind: connectionType === "sse" ? "sse" : "http", url, headers: reveal(headers) };
  }
  const { command, args, env, cwd } = setting;
  return { kind: "stdio", command, args, env: reveal(env), ...(cwd === undefined ? {} : { cwd }) };
}

function toAuth(auth: ServerAuthSetting): AuthSettings {
  const { clientSecret, ...rest } = auth;
  return (
    clientSecret === undefined ? rest : { ...rest, clientSecret: clientSecret.reveal() }
  ) as AuthSettings;
}

function reveal(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}
