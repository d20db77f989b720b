/** Shorter values are often ordinary words, and hiding them would make messages unreadable. */
export const MIN_SECRET_CHARACTERS = 6;
/** Matches names of variables and settings whose values are secret. */
export const SECRET_NAME = /key|token|secret|pass|auth|cred|private|session|cookie/i;
/** Matches values that are not secret, whatever their name: words, numbers and paths. */
export const PLAIN_VALUE = /^(?:[A-Za-z]+|[\d.]+|\.{0,2}\/.*)$/;
const PLACEHOLDER = "[redacted]";

/** Replaces the secrets in a text by `[redacted]`. */
export type HideSecrets = (text: string) => string;

/**
 * Creates a filter for the secrets in environment variables: values of at least {@link MIN_SECRET_CHARACTERS} characters
 * whose variables have a name like `API_KEY`.
 *
 * @param environment - Usually `process.env`. Read once.
 */
export function createSecretFilter(environment: Readonly<Record<string, string | undefined>>): HideSecrets {
  const secrets = createSecretList(environment);
  return (text) => withoutSecrets(text, secrets);
}

/** The secrets in environment variables, as {@link createSecretFilter} knows them. */
export function createSecretList(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= MIN_SECRET_CHARACTERS && !PLAIN_VALUE.test(value)
      ? [value]
      : [],
  );
  return [...new Set(values)];
}

/** Replaces secrets in a text, longest first, since one may contain another. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((result, secret) => result.replaceAll(secret, PLACEHOLDER), text);
}

/**
 * Copies data and replaces the secrets in its texts. What JSON can't represent is left out of the copy.
 *
 * @throws TypeError for circular data.
 */
export function hideInside<Data extends object>(data: Data, hideSecrets: HideSecrets): Data {
  const hide = (_key: string, value: unknown): unknown =>
    typeof value === "string" ? hideSecrets(value) : value;
  return JSON.parse(JSON.stringify(data, hide)) as Data;
}
