import { MIN_SECRET_CHARACTERS, PLAIN_VALUE, SECRET_NAME, withoutSecrets } from "@cem/bridge";
import type { HideSecrets } from "@cem/bridge";
import type { McpServerSettings } from "./server-settings.ts";

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
