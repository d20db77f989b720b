import { homedir } from "node:os";
import path from "node:path";

/** Where sign-ins are kept: the user's, shared by all projects. `CEM_AUTH_DIR` sets another place. */
export function authFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { CEM_AUTH_DIR: own, XDG_CONFIG_HOME: xdg, APPDATA: appData } = environment;
  if (own !== undefined && own !== "") return path.resolve(own);
  const base = process.platform === "win32" ? appData : xdg;
  return path.join(base ?? path.join(homedir(), ".config"), "cem", "auth");
}
