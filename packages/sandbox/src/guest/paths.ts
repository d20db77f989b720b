import { indexOfText, sliceText, startsWith } from "./primordials.ts";

type Mapping = readonly [from: string, to: string];

const FILE_SCHEME = "file://";
/** Longer texts are not paths. */
const MAX_PATH_CHARACTERS = 4_096;

/** From guest folders to those of the host, longest first; empty where the guest has a file system view of its own. */
let roots: readonly Mapping[] = [];
/** From host paths to those of the guest, longest first. */
let hosts: readonly Mapping[] = [];

function longestFirst(mappings: readonly Mapping[]): Mapping[] {
  return mappings.toSorted(([one], [other]) => other.length - one.length);
}

/** Sets the host folders of guest folders, and the replacements of host paths in texts. */
export function usePaths(paths: Record<string, string>, hostPaths: Record<string, string>): void {
  roots = longestFirst(Object.entries(paths));
  const plain = Object.entries(hostPaths);
  // As encoded in a URL.
  const encoded = plain.map(([host, guest]): Mapping => [encodeURI(host), guest]);
  hosts = longestFirst([...plain, ...encoded]);
}

/** Whether texts may contain host paths, which are hidden from programs. */
export function hidesHost(): boolean {
  return hosts.length > 0;
}

/** Uses no iterators, which a program in the guest's own realm may have changed. */
function mapped(path: string, mappings: readonly Mapping[]): string | undefined {
  for (let index = 0; index < mappings.length; index += 1) {
    const mapping = mappings[index] as Mapping;
    const from = mapping[0];
    if (path === from) return mapping[1];
    if (startsWith(path, `${from}/`)) return mapping[1] + sliceText(path, from.length);
  }
  return undefined;
}

export function toHostPath(path: string): string {
  return mapped(path, roots) ?? path;
}

/** Maps a host path, or the URL of one, to its guest path. */
export function toGuestPath(path: string): string {
  if (path.length > MAX_PATH_CHARACTERS || indexOfText(path, "\n", 0) !== -1) return path;
  const scheme = startsWith(path, FILE_SCHEME) ? FILE_SCHEME : "";
  const found = mapped(sliceText(path, scheme.length), hosts);
  return found === undefined ? path : scheme + found;
}

export function toGuestText(text: string): string {
  let result = text;
  for (let index = 0; index < hosts.length; index += 1) {
    const mapping = hosts[index] as Mapping;
    const host = mapping[0];
    const guest = mapping[1];
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
