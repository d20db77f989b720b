import { getPath, type Origin } from "../layer.ts";
import type { Config } from "../schema.ts";
import { SETTINGS } from "../settings.ts";
import { isWithin, realPath } from "./places.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

/** Looked at elsewhere. */
const OTHERS = new Set(["execution.mount_directories", "store.url"]);
const PATHS = SETTINGS.filter(({ isPath, path }) => isPath && !OTHERS.has(path));

/** Where the paths of a configuration come from. */
export interface PathOrigins {
  origins: Readonly<Record<string, Origin>>;
  /** The real path of the folder whose files are not trusted yet. */
  folder: string;
  /** The real path of the folder that the defaults start from; `undefined` where those are taken as they are. */
  defaultsFolder: string | undefined;
}

/** The paths in settings of the folder, and its links in the places of the defaults, that lead out of it. */
export function pathItems(config: Config, from: PathOrigins): TrustItem[] {
  return PATHS.flatMap(({ path, keys }) => {
    const place = getPath(config, keys);
    // By default it is the workspace, which is looked at itself.
    if (path === "execution.state.workspace_dir" && from.origins[path]?.from === "default") return [];
    const border = borderOf(from.origins[path], from);
    if (typeof place !== "string" || border === undefined) return [];
    const real = realPath(place);
    if (isWithin(border, real)) return [];
    return [trustItem({ kind: "path", name: path, text: real }, [place, real])];
  });
}

function borderOf(origin: Origin | undefined, { folder, defaultsFolder }: PathOrigins): string | undefined {
  if (origin === undefined || origin.from === "default") return defaultsFolder;
  return origin.ofFolder === true ? folder : undefined;
}

/** The mounts in settings of the folder that show the guest what lies outside of it. */
export function mountItems({ execution }: Config, { origins, folder }: PathOrigins): TrustItem[] {
  if (origins["execution.mount_directories"]?.ofFolder !== true) return [];
  return execution.mountDirectories.flatMap(({ host, guest, mode }) => {
    const real = realPath(host);
    if (isWithin(folder, real)) return [];
    const may = mode === "rw" ? "which code may change" : "which code may read";
    return [trustItem({ kind: "mount", name: guest, text: `${real}, ${may}` }, [host, real, mode])];
  });
}
