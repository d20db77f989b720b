/** The variable with the path of the configuration file. It is not a setting. */
export const FILE_VARIABLE = "CEM_CONFIG";
/** The variable with the folders whose files are trusted. It is not a setting and never read from .env. */
export const TRUST_VARIABLE = "CEM_TRUST_FOLDER";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The value of a variable, trimmed. An empty one counts as unset. */
export function variableValue(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim();
  return value === "" ? undefined : value;
}
