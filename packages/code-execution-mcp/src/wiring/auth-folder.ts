import path from "node:path";

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
