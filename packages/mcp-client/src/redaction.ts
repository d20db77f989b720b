import type { McpServerSettings } from "./server-settings.ts";

/** Shorter values are ordinary words; hiding them would make every message unreadable. */
const MIN_SECRET_CHARACTERS = 6;
const SECRET_NAME = /key|token|secret|pass|auth|cred|private|session|cookie/i;
/** `production`, `/usr/bin`, `8080`: settings, which a message may name. */
const PLAIN_VALUE = /^(?:[A-Za-z]+|[\d.]+|\.{0,2}\/.*)$/;
const PLACEHOLDER = "[redacted]";

/** Replaces every known secret in a text. */
export type Redact = (text: string) => string;

/** Gathers what a server's settings hold, and what is in use now, that nobody should read in an error or a log. */
export function createRedact(
  settings: McpServerSettings,
  current: () => readonly string[] = () => [],
): Redact {
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
  return (text) => {
    const longestFirst = [...secrets, ...current()].toSorted((a, b) => b.length - a.length);
    return longestFirst.reduce((result, secret) => result.replaceAll(secret, PLACEHOLDER), text);
  };
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
