import { isSame } from "./file-entry.ts";
import type { Files } from "./file-entry.ts";
import type { LocalFiles } from "./file-content.ts";
import type { Head, ReadHead } from "./shared-copy.ts";

/** What this machine and the shared copy had in common last. */
export interface CommonState {
  /** The head and its version in the store. */
  head: Head | undefined;
  version: string;
  /** The files, with the names of their pieces and the signatures that they have here. */
  files: LocalFiles;
  /** Which folders they lie in. */
  roots: Record<string, string>;
}

/** The state that a head comes from: the newest of those that this machine may have reached. */
export function pickCommon(
  states: readonly CommonState[],
  { head, version }: ReadHead,
): CommonState | undefined {
  const found = states.find(
    (state) =>
      (state.version === version && states.length === 1) ||
      (head?.manifest !== undefined && String(state.head?.manifest) === String(head.manifest)),
  );
  return found === undefined ? states.at(-1) : { ...found, head, version };
}

/** Whether the workspace that this machine has was deleted. */
export function isGone({ head, version }: ReadHead, common: CommonState | undefined): boolean {
  if (head === undefined || common === undefined || version === common.version) return false;
  const salt = common.head?.salt ?? "";
  return head.manifest === undefined || (salt !== "" && head.buried.includes(salt));
}

/** The files of which this machine has what is shared, and what both had in common of the others. */
export function sharedHere(files: LocalFiles, remote: Files, base: Files): LocalFiles {
  const here: LocalFiles = new Map(base);
  for (const [path, entry] of remote) {
    const file = files.get(path);
    if (isSame(file, entry)) here.set(path, { ...entry, signature: file?.signature });
  }
  for (const path of base.keys()) if (!files.has(path) && !remote.has(path)) here.delete(path);
  return here;
}

/** A folder that is another one than before was not emptied by anybody: it has nothing yet. */
export function filesIn({ files, roots: before }: CommonState, roots: Record<string, string>): LocalFiles {
  const same = new Set(Object.keys(roots).filter((name) => roots[name] === before[name]));
  return new Map([...files].filter(([path]) => same.has(path.split("/", 1)[0] ?? "")));
}

/** Whether the same files have the same contents. */
export function isUnchanged(before: Files, now: Files): boolean {
  return before.size === now.size && [...now].every(([path, file]) => isSame(before.get(path), file));
}

/** Whether signatures are surer than they were. */
export function hasNewSignature(before: LocalFiles, now: LocalFiles): boolean {
  return [...now].some(([path, { signature }]) => signature !== before.get(path)?.signature);
}

/** Files of this machine with the names of their pieces. */
export function withNames(named: LocalFiles, now: LocalFiles): LocalFiles {
  return new Map(
    [...now].map(([path, file]) => [path, { ...file, pieces: named.get(path)?.pieces ?? file.pieces }]),
  );
}
