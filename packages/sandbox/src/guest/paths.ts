import { create, endsWith, includesText, indexOfText, keys, sliceText, startsWith } from "./primordials.ts";

/** Host folder by guest folder; empty where the guest has a file system view of its own. */
let roots = create(null) as Record<string, string>;
/** Guest paths in `roots`, longest first. */
let prefixes: string[] = [];

/** Suffix of this run's module URLs; empty where the guest serves one run only. */
let mark = "";

export function setRunMark(ending: string): void {
  mark = ending;
}

/** A module's URL for this run alone, which no other run can import. */
export function inThisRun(url: string): string {
  if (mark === "") return url;
  const sign = startsWith(url, "data:") ? "#" : includesText(url, "?") ? "&" : "?";
  const isOwn = endsWith(url, `?${mark}`) || endsWith(url, `&${mark}`) || endsWith(url, `#${mark}`);
  return isOwn ? url : url + sign + mark;
}

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
  if (mark !== "") result = without(without(result, `?${mark}`), `&${mark}`);
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

function without(text: string, part: string): string {
  let result = text;
  for (let at = indexOfText(result, part, 0); at !== -1; at = indexOfText(result, part, at)) {
    result = sliceText(result, 0, at) + sliceText(result, at + part.length);
  }
  return result;
}
