import { resolve } from "node:path";
import { findConfigFile } from "./config-file.ts";
import type { EnvironmentSource } from "./environment.ts";
import { FILE_VARIABLE, variableValue } from "./variables.ts";

/** The configuration file, where there is one. */
export interface ChosenFile {
  file?: string | undefined;
  /** The variable that named it, for the error when it does not exist. */
  namedBy?: string | undefined;
  /** Whether it was found in the folder and not named by the user. */
  ofFolder?: boolean | undefined;
  warnings: string[];
}

/** Chooses the configuration file: the one that the caller, a variable or, by its name, the folder gives. */
export async function chooseFile(
  cwd: string,
  file: string | false | undefined,
  sources: readonly EnvironmentSource[],
): Promise<ChosenFile> {
  if (file === false) return { warnings: [] };
  if (file !== undefined) return { file: resolve(cwd, file), warnings: [] };
  for (const { from, variables, ofFolder } of sources.toReversed()) {
    const named = variableValue(variables, FILE_VARIABLE);
    if (named !== undefined)
      return {
        file: resolve(cwd, named),
        namedBy: `${from} ${FILE_VARIABLE}`,
        ofFolder,
        warnings: [],
      };
  }
  return { ...(await findConfigFile(cwd)), ofFolder: true };
}
