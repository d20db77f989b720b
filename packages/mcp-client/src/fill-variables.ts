import { expandVariables } from "./environment-values.ts";
import type { Expansion, LookUp } from "./environment-values.ts";
import type { AuthSettings, McpServerSettings, TransportSettings } from "./server-settings.ts";

type Fill = (text: string, key: string) => string;

/**
 * Fills `${NAME}` and `${NAME:-default}` in a server's settings. What was filled in is kept out of errors and logs.
 *
 * @param lookUp gives the value of a variable. Default: `process.env`.
 * @throws CemError `VARIABLE_MISSING` naming the variable and the place, never a value.
 */
export function fillVariables(
  settings: McpServerSettings,
  lookUp: LookUp = (name) => process.env[name],
): McpServerSettings {
  const expansion: Expansion = { lookUp, secrets: new Set(settings.secrets) };
  const fill: Fill = (text, key) => expandVariables(text, `mcp_servers.${settings.name}.${key}`, expansion);
  const filled = { ...settings, transport: fillTransport(settings.transport, fill) };
  if (settings.auth !== undefined) filled.auth = fillAuth(settings.auth, fill);
  return expansion.secrets.size === 0 ? filled : { ...filled, secrets: [...expansion.secrets] };
}

function fillTransport(transport: TransportSettings, fill: Fill): TransportSettings {
  if (transport.kind !== "stdio") {
    const { headers } = transport;
    return {
      ...transport,
      url: fill(transport.url, "url"),
      ...(headers && { headers: fillAll(headers, "headers", fill) }),
    };
  }
  const { args, env, cwd } = transport;
  return {
    ...transport,
    command: fill(transport.command, "command"),
    ...(args && { args: args.map((text, index) => fill(text, `args[${index}]`)) }),
    ...(env && { env: fillAll(env, "env", fill) }),
    ...(cwd !== undefined && { cwd: fill(cwd, "cwd") }),
  };
}

function fillAll(values: Readonly<Record<string, string>>, key: string, fill: Fill): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fill(value, `${key}.${name}`)]),
  );
}

function fillAuth(auth: AuthSettings, fill: Fill): AuthSettings {
  if (auth.kind === "client-credentials") {
    return {
      ...auth,
      clientId: fill(auth.clientId, "auth.client_id"),
      clientSecret: fill(auth.clientSecret, "auth.client_secret"),
      issuer: fill(auth.issuer, "auth.issuer"),
    };
  }
  const { clientId, clientSecret } = auth;
  return {
    ...auth,
    ...(clientId !== undefined && { clientId: fill(clientId, "auth.client_id") }),
    ...(clientSecret !== undefined && { clientSecret: fill(clientSecret, "auth.client_secret") }),
  };
}
