import { CemError } from "@cem/core";

/** Gives the value of a variable. */
export type LookUp = (name: string) => string | undefined;

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Collects what was filled in, so that it can be kept out of errors and logs. */
export interface Expansion {
  lookUp: LookUp;
  /** Every value taken from the environment. */
  secrets: Set<string>;
}

/**
 * Fills `${NAME}` and `${NAME:-default}` in a text.
 *
 * @throws CemError `VARIABLE_MISSING` naming the variable and the place, never a value.
 */
export function expandVariables(text: string, place: string, expansion: Expansion): string {
  return text.replace(REFERENCE, (_reference, name: string, fallback: string | undefined) => {
    const value = expansion.lookUp(name);
    if (value !== undefined && value !== "") {
      expansion.secrets.add(value);
      return value;
    }
    if (fallback !== undefined) return fallback;
    throw new CemError(
      "VARIABLE_MISSING",
      `${place} needs the environment variable ${name}, which is not set. Set it, or write \${${name}:-default}.`,
      { details: { variable: name, place } },
    );
  });
}
