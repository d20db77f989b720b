import { MIN_SECRET_CHARACTERS, PLAIN_VALUE, SECRET_NAME, withoutSecrets } from "@cem/bridge";
import type { HideSecrets } from "@cem/bridge";
import { CemError, isObject, withoutEscapes } from "@cem/core";
import type { McpServerSettings, TransportSettings } from "./server-settings.ts";

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;

/** @param setting - The location of the text in the server's settings, such as `headers.Authorization`; for the error. */
type Fill = (text: string, setting: string) => string;

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` in a server's settings. An empty variable counts as not set. The values that were filled in
 * are added to `secrets`, so that they are redacted from errors and logs.
 *
 * @param lookUp - returns the value of a variable. Default: reads `process.env`.
 * @throws CemError `VARIABLE_MISSING` with the variable and the setting, but no value; `OPTION_INVALID` for an invalid URL.
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
      const message = `Server "${server}" needs the environment variable ${variable} for ${setting}, and it is not set.`;
      throw new CemError("VARIABLE_MISSING", message, { details: { server, setting, variable } });
    });
  const { provider, ...rest } = { provider: undefined, ...settings.transport };
  const transport = { ...fillAll(rest, "", fill), ...(provider && { provider }) } as TransportSettings;
  if (transport.kind !== "stdio" && !URL.canParse(transport.url)) {
    const message = `Server "${server}" needs a whole URL for url, such as https://example.com/mcp.`;
    throw new CemError("OPTION_INVALID", message, { details: { server, option: "url" } });
  }
  const auth = fillAll(settings.auth, "auth", fill);
  return { ...settings, transport, auth, secrets: [...secrets] };
}

/** Fills every text in a setting, such as `headers`. */
function fillAll<Value>(value: Value, setting: string, fill: Fill): Value;
function fillAll(value: unknown, setting: string, fill: Fill): unknown {
  if (typeof value === "string") return fill(value, setting);
  if (Array.isArray(value)) return value.map((one, index) => fillAll(one, `${setting}[${index}]`, fill));
  if (!isObject(value)) return value;
  const start = setting === "" ? "" : `${setting}.`;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, fillAll(inner, `${start}${name}`, fill)]),
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
  const secrets = new Set(settings.secrets);
  const add = (value: string | undefined): void => {
    if (value !== undefined) secrets.add(value);
  };
  const { transport, auth } = settings;
  add(auth?.clientSecret);
  if (transport.kind === "stdio") {
    for (const [name, value] of Object.entries(transport.env ?? {})) {
      if (SECRET_NAME.test(name) || !PLAIN_VALUE.test(value)) add(value);
    }
  } else {
    for (const value of Object.values(transport.headers ?? {})) {
      add(value);
      add(value.replace(/^\S+\s+/, ""));
    }
    const { password = "", searchParams = [] } = URL.parse(transport.url) ?? {};
    add(password);
    add(withoutEscapes(password));
    for (const [, value] of searchParams) {
      add(value);
      add(encodeURIComponent(value));
    }
  }
  const isLong = (value: string): boolean => value.length >= MIN_SECRET_CHARACTERS;
  return (text) => withoutSecrets(text, [...secrets, ...current()].filter(isLong));
}
