import { CemError } from "@cem/core";

/** Returns the value of a variable, or `undefined` when it is not set. */
export type LookUp = (name: string) => string | undefined;

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;

/** Where variables come from, and what was filled in. */
export interface Expansion {
  /** The name of the server whose settings are filled. */
  server: string;
  lookUp: LookUp;
  /** Collects every value that was filled in, to be redacted from errors and logs. */
  secrets: Set<string>;
}

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` in a text. An empty variable counts as not set.
 *
 * @param setting - where the text stands in the server's settings, such as `headers.Authorization`; for the error.
 * @throws CemError `VARIABLE_MISSING` with the variable and the setting, and no value.
 */
export function expandVariables(text: string, setting: string, expansion: Expansion): string {
  const { server, lookUp, secrets } = expansion;
  return text.replace(REFERENCE, (_reference, variable: string, fallback: string | undefined) => {
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
}
