import { create, indexOfText, keys, sliceText, startsWith } from "./primordials.ts";

/** Host folder by guest folder; empty where the guest has a file system view of its own. */
let roots = create(null) as Record<string, string>;
/** Guest paths in `roots`, longest first. */
let prefixes: string[] = [];

/** Sets the host folders of guest folders. */
export function usePaths(paths: Record<string, string>): void {
  roots = paths;
  prefixes = keys(paths).toSorted((one, other) => other.length - one.length);
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

/** Maps a host path to a guest path. */
export function toGuestPath(path: string): string {
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    const root = roots[prefix] as string;
    if (path === root) return prefix;
    if (startsWith(path, `${root}/`)) return prefix + sliceText(path, root.length);
  }
  return path;
}

/** Replaces host paths by guest paths in a message. */
export function toGuestText(text: string): string {
  let result = text;
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    const root = roots[prefix] as string;
    for (
      let at = indexOfText(result, root, 0);
      at !== -1;
      at = indexOfText(result, root, at + prefix.length)
    ) {
      result = sliceText(result, 0, at) + prefix + sliceText(result, at + root.length);
    }
  }
  return result;
}
