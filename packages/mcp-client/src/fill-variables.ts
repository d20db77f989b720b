import { expandVariables } from "./environment-values.ts";
import type { Expansion, LookUp } from "./environment-values.ts";
import type { AuthSettings, McpServerSettings, TransportSettings } from "./server-settings.ts";

type Fill = (text: string, setting: string) => string;

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` in a server's settings. The values that were filled in
 * are added to `secrets`, so that they are redacted from errors and logs.
 *
 * @param lookUp - returns the value of a variable. Default: reads `process.env`.
 * @throws CemError `VARIABLE_MISSING` with the variable and the setting, and no value.
 */
export function fillVariables(
  settings: McpServerSettings,
  lookUp: LookUp = (name) => process.env[name],
): McpServerSettings {
  const expansion: Expansion = { server: settings.name, lookUp, secrets: new Set(settings.secrets) };
  const fill: Fill = (text, setting) => expandVariables(text, setting, expansion);
  const transport = fillTransport(settings.transport, fill);
  const auth = settings.auth && fillAuth(settings.auth, fill);
  return { ...settings, transport, auth, secrets: [...expansion.secrets] };
}

function fillTransport(transport: TransportSettings, fill: Fill): TransportSettings {
  if (transport.kind !== "stdio") {
    const { url, headers } = transport;
    return { ...transport, url: fill(url, "url"), headers: fillAll(headers, "headers", fill) };
  }
  const { command, args, env, cwd } = transport;
  return {
    ...transport,
    command: fill(command, "command"),
    args: args?.map((text, index) => fill(text, `args[${index}]`)),
    env: fillAll(env, "env", fill),
    cwd: fillOptional(cwd, "cwd", fill),
  };
}

function fillAuth(auth: AuthSettings, fill: Fill): AuthSettings {
  if (auth.kind === "client-credentials") {
    return {
      ...auth,
      clientId: fill(auth.clientId, "auth.clientId"),
      clientSecret: fill(auth.clientSecret, "auth.clientSecret"),
      issuer: fill(auth.issuer, "auth.issuer"),
    };
  }
  return {
    ...auth,
    clientId: fillOptional(auth.clientId, "auth.clientId", fill),
    clientSecret: fillOptional(auth.clientSecret, "auth.clientSecret", fill),
  };
}

function fillOptional(text: string | undefined, setting: string, fill: Fill): string | undefined {
  return text === undefined ? undefined : fill(text, setting);
}

function fillAll(
  values: Readonly<Record<string, string>> | undefined,
  setting: string,
  fill: Fill,
): Record<string, string> | undefined {
  if (values === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fill(value, `${setting}.${name}`)]),
  );
}
