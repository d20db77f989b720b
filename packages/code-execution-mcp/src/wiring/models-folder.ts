import { homedir } from "node:os";
import path from "node:path";

/** Where pulled models are kept unless the configuration says: the user's, shared by all projects. */
export function modelsFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: appData } = environment;
  const base = process.platform === "win32" ? appData : xdg;
  return path.join(base ?? path.join(homedir(), ".cache"), "cem", "models");
}
