import path from "node:path";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";

/**
 * Where sign-ins are kept: the user's, shared by all projects. `CEM_AUTH_DIR` sets another place.
 *
 * @param project - The folder that a relative `CEM_AUTH_DIR` counts from.
 */
export async function authFolder(
  project: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { CEM_AUTH_DIR: own } = environment;
  if (own !== undefined && own !== "") return path.resolve(project, own);
  const { userConfigFolder } = await import("@cem/config");
  return path.join(userConfigFolder(environment), "auth");
}

/** A folder of the host's own. */
export interface HostFolder {
  folder: string;
  /** Its contents, as the subject of an error message: `Runs of workflows`. */
  what: string;
  /** The setting that names it. */
  setting: string;
  /** Further folders in which there is what code can reach. */
  reached?: readonly string[] | undefined;
  /** The folder that counts as out of reach, since code gets another in its place. */
  besides?: string | undefined;
}

/**
 * Refuses a place that code in the sandbox can reach: it could read what is there, and change it.
 *
 * @throws CemError `CONFIG_INVALID`
 */
export async function assertOutOfReach(
  { execution }: Config,
  { folder, what, setting, reached: others = [], besides }: HostFolder,
): Promise<void> {
  const { isWithin, realPath } = await import("@cem/config");
  const { workspaceDir, state, serversDir, skillsDir, mountDirectories } = execution;
  const shown = [workspaceDir, state.workspaceDir, serversDir, skillsDir].filter((one) => one !== besides);
  const reached = [...shown, ...mountDirectories.map(({ host }) => host), ...others];
  const real = realPath(folder);
  const around = reached.find((one) => isWithin(realPath(one), real) || isWithin(real, realPath(one)));
  if (around === undefined) return;
  const message = `${what} would be kept in ${folder}, and code in the sandbox can reach ${around}. Set ${setting} to a folder outside of it.`;
  throw new CemError("CONFIG_INVALID", message, { details: { setting, folder, reached: around } });
}
