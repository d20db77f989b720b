import { create, indexOfText, keys, sliceText, startsWith } from "./primordials.ts";

interface HostPath {
  host: string;
  guest: string;
}

const FILE_SCHEME = "file://";
/** Longer texts are no paths. */
const MAX_PATH_CHARACTERS = 4_096;

/** Host folder by guest folder; empty where the guest has a file system view of its own. */
let roots = create(null) as Record<string, string>;
/** Guest paths in `roots`, longest first. */
let prefixes: string[] = [];
/** Longest first. */
let hosts: HostPath[] = [];

/** Sets the host folders of guest folders, and what stands for host paths in texts. */
export function usePaths(paths: Record<string, string>, hostPaths: Record<string, string>): void {
  roots = paths;
  const plain = keys(hostPaths).map((host) => ({ host, guest: hostPaths[host] as string }));
  // As in a URL.
  const encoded = plain.map(({ host, guest }) => ({ host: encodeURI(host), guest }));
  hosts = [...plain, ...encoded].toSorted((one, other) => other.host.length - one.host.length);
  prefixes = keys(paths).toSorted((one, other) => other.length - one.length);
}

/** Whether texts may hold paths of the host, which programs are not told. */
export function hidesHost(): boolean {
  return hosts.length > 0;
}

/** Whether a guest path is, or lies in, a folder that is mounted below the workspace. */
export function isMounted(path: string): boolean {
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    if (prefix !== "/workspace" && (path === prefix || startsWith(path, `${prefix}/`))) return true;
  }
  return false;
}

/** Maps a guest path to a host path. */
export function toHostPath(path: string): string {
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    if (path === prefix) return roots[prefix] as string;
    if (startsWith(path, `${prefix}/`)) return roots[prefix] + sliceText(path, prefix.length);
  }
  return path;
}

/** Maps a host path, or the URL of one, to its guest path. */
export function toGuestPath(path: string): string {
  if (path.length > MAX_PATH_CHARACTERS || indexOfText(path, "\n", 0) !== -1) return path;
  const scheme = startsWith(path, FILE_SCHEME) ? FILE_SCHEME : "";
  const plain = sliceText(path, scheme.length);
  for (let index = 0; index < hosts.length; index += 1) {
    const { host, guest } = hosts[index] as HostPath;
    if (plain === host) return scheme + guest;
    if (startsWith(plain, `${host}/`)) return scheme + guest + sliceText(plain, host.length);
  }
  return path;
}

/** Replaces host paths by guest paths in a text. */
export function toGuestText(text: string): string {
  let result = text;
  for (let index = 0; index < hosts.length; index += 1) {
    const { host, guest } = hosts[index] as HostPath;
    for (
      let at = indexOfText(result, host, 0);
      at !== -1;
      at = indexOfText(result, host, at + guest.length)
    ) {
      result = sliceText(result, 0, at) + guest + sliceText(result, at + host.length);
    }
  }
  return result;
}
