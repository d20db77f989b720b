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

/** The configuration file that the caller or else the environment names. Known before `.env` is read, which lies beside it. */
export function namedFile(
  cwd: string,
  file: string | false | undefined,
  environment: EnvironmentSource,
): ChosenFile | undefined {
  if (file === false) return { warnings: [] };
  if (file !== undefined) return { file: resolve(cwd, file), warnings: [] };
  return namedByVariable(cwd, environment);
}

/** The configuration file that nobody named: the one that `.env` names, else the one that the folder has. */
export async function fileOfFolder(cwd: string, dotenv: EnvironmentSource): Promise<ChosenFile> {
  return namedByVariable(cwd, dotenv) ?? { ...(await findConfigFile(cwd)), ofFolder: true };
}

function namedByVariable(
  cwd: string,
  { from, variables, ofFolder }: EnvironmentSource,
): ChosenFile | undefined {
  const named = variableValue(variables, FILE_VARIABLE);
  if (named === undefined) return undefined;
  return { file: resolve(cwd, named), namedBy: `${from} ${FILE_VARIABLE}`, ofFolder, warnings: [] };
}
