import { MIN_SECRET_CHARACTERS, PLAIN_VALUE, SECRET_NAME, withoutSecrets } from "@cem/bridge";
import type { HideSecrets } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { AuthSettings, McpServerSettings, TransportSettings } from "./server-settings.ts";

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;

/** @param setting - Where the text stands in the server's settings, such as `headers.Authorization`; for the error. */
type Fill = (text: string, setting: string) => string;

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` in a server's settings. An empty variable counts as not set. The values that were filled in
 * are added to `secrets`, so that they are redacted from errors and logs.
 *
 * @param lookUp - returns the value of a variable. Default: reads `process.env`.
 * @throws CemError `VARIABLE_MISSING` with the variable and the setting, and no value; `OPTION_INVALID` for a URL that is none.
 */
export function fillVariables(
  settings: McpServerSettings,
  lookUp: (name: string) => string | undefined = (name) => process.env[name],
): McpServerSettings {
  const { name: server } = settings;
  const secrets = new Set(settings.secrets);
  const fill: Fill = (text, setting) =>
    text.replace(REFERENCE, (_reference, variable: string, fallback: string | undefined) => {
      const value = lookUp(variable);
      if (value !== undefined && value !== "") {
        secrets.add(value);
        return value;
      }
      if (fallback !== undefined) return fallback;
      throw new CemError(
        "VARIABLE_MISSING",
        `Server "${server}" needs the environment variable ${variable} for ${setting}, and it is not set.`,
        { details: { server, setting, variable } },
      );
    });
  const transport = fillTransport(settings.transport, fill);
  if (transport.kind !== "stdio" && !URL.canParse(transport.url)) {
    throw new CemError(
      "OPTION_INVALID",
      `Server "${server}" needs a whole URL for url, such as https://example.com/mcp.`,
      { details: { server, option: "url" } },
    );
  }
  const auth = settings.auth && fillAuth(settings.auth, fill);
  return { ...settings, transport, auth, secrets: [...secrets] };
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

/**
 * Creates a function that redacts the secrets of a server's settings from a text: headers, credentials of the URL,
 * environment variables that look secret, client secrets and the settings' own `secrets`.
 *
 * @param current - returns further secrets, such as access tokens in use.
 */
export function createRedact(
  settings: McpServerSettings,
  current: () => readonly string[] = () => [],
): HideSecrets {
  const secrets = new Set<string>();
  const add = (value: string | undefined): void => {
    if (value !== undefined && value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  };
  for (const secret of settings.secrets ?? []) add(secret);
  const { transport, auth } = settings;
  if (auth?.kind === "client-credentials" || auth?.kind === "authorization-code") add(auth.clientSecret);
  if (transport.kind === "stdio") {
    for (const [name, value] of Object.entries(transport.env ?? {})) {
      if (SECRET_NAME.test(name) || !PLAIN_VALUE.test(value)) add(value);
    }
  } else {
    for (const value of Object.values(transport.headers ?? {})) {
      add(value);
      add(value.replace(/^\S+\s+/, ""));
    }
    addUrlSecrets(transport.url, add);
  }
  return (text) => withoutSecrets(text, [...secrets, ...current()]);
}

function addUrlSecrets(url: string, add: (value: string) => void): void {
  if (!URL.canParse(url)) return;
  const parsed = new URL(url);
  add(parsed.password);
  add(decodeURIComponentSafely(parsed.password));
  for (const value of parsed.searchParams.values()) {
    add(value);
    add(encodeURIComponent(value));
  }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
