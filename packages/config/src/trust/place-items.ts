import { join } from "node:path";
import { getPath, type Origin } from "../layer.ts";
import type { Config } from "../schema.ts";
import { SETTINGS } from "../settings.ts";
import { isWithin, realPath } from "./places.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

const PATHS = SETTINGS.filter(({ risk }) => risk !== "none" && risk.askedAs === "path");
/** Holds the hooks that git runs, which no clone brings. */
const GIT_FOLDER = ".git";

/** Where the paths of a configuration come from. */
export interface PathOrigins {
  origins: Readonly<Record<string, Origin>>;
  /** The real path of the folder whose files are not trusted yet. */
  folder: string;
  /** The real path of the folder that the defaults start from; `undefined` where those are taken as they are. */
  defaultsFolder: string | undefined;
}

/** The paths in settings of the folder, and its links in the places of the defaults, that lead out of it or to git's files. */
export function pathItems(config: Config, from: PathOrigins): TrustItem[] {
  return PATHS.flatMap(({ path, keys, isPath }) => {
    const place = getPath(config, keys);
    // By default it is the workspace, which is looked at itself.
    if (path === "execution.state.workspace_dir" && from.origins[path]?.from === "default") return [];
    const border = borderOf(from.origins[path], from);
    if (typeof place !== "string" || !isPath(place) || border === undefined) return [];
    const real = realPath(place);
    if (isWithin(border, real) && !meetsGit(border, real)) return [];
    return [trustItem({ kind: "path", name: path, text: real }, [place, real])];
  });
}

function borderOf(origin: Origin | undefined, { folder, defaultsFolder }: PathOrigins): string | undefined {
  if (origin === undefined || origin.from === "default") return defaultsFolder;
  return origin.ofFolder === true ? folder : undefined;
}

/** Whether a place is in the folder of git, or has that folder in it. */
function meetsGit(border: string, place: string): boolean {
  const git = join(border, GIT_FOLDER);
  return isWithin(git, place) || isWithin(place, git);
}

/** The mounts in settings of the folder that show the guest what lies outside of it, or let it change git's files. */
export function mountItems({ execution }: Config, { origins, folder }: PathOrigins): TrustItem[] {
  if (origins["execution.mount_directories"]?.ofFolder !== true) return [];
  return execution.mountDirectories.flatMap(({ host, guest, mode }) => {
    const real = realPath(host);
    if (isWithin(folder, real) && !(mode === "rw" && meetsGit(folder, real))) return [];
    const may = mode === "rw" ? "which code may change" : "which code may read";
    return [trustItem({ kind: "mount", name: guest, text: `${real}, ${may}` }, [host, real, mode])];
  });
}
