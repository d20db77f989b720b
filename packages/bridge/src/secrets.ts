/** Shorter values are ordinary words; hiding them would make every message unreadable. */
export const MIN_SECRET_CHARACTERS = 6;
/** Names whose values nobody should read. */
export const SECRET_NAME = /key|token|secret|pass|auth|cred|private|session|cookie/i;
/** `production`, `/usr/bin`, `8080`: settings, which a message may name. */
export const PLAIN_VALUE = /^(?:[A-Za-z]+|[\d.]+|\.{0,2}\/.*)$/;
const PLACEHOLDER = "[redacted]";

/** Takes known secrets out of a text. */
export type HideSecrets = (text: string) => string;

/** Hides the values of environment variables whose names say that they are secret. */
export function createSecretFilter(environment: Readonly<Record<string, string | undefined>>): HideSecrets {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= MIN_SECRET_CHARACTERS && !PLAIN_VALUE.test(value)
      ? [value]
      : [],
  );
  const secrets = [...new Set(values)];
  return (text) => withoutSecrets(text, secrets);
}

/** The text without the secrets. The longest go first: one may be a part of another. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((result, secret) => result.replaceAll(secret, PLACEHOLDER), text);
}

/** A copy of plain data whose texts hold no secret. What is not plain data is left out. */
export function hideInside<Data extends object>(data: Data, hideSecrets: HideSecrets): Data {
  const hide = (_key: string, value: unknown): unknown =>
    typeof value === "string" ? hideSecrets(value) : value;
  return JSON.parse(JSON.stringify(data, hide)) as Data;
}
