import type { FactsStore } from "./facts-store.ts";
import type { ReadServer } from "./read-server.ts";
import type { ToolFolder } from "./scan-folders.ts";

/** A server as read from its folder, with the files it depends on. */
interface CachedServer {
  /** The names in the folder when it was read. */
  listing: string;
  files: ReadonlySet<string>;
  result: ReadServer;
}

/** Servers by their folders. An entry holds as long as none of its files changes. */
export interface ServerCache {
  /** The server of a folder and its files; `undefined` when it has to be read again. */
  get(folder: ToolFolder): { result: ReadServer; files: ReadonlySet<string> } | undefined;
  set(folder: ToolFolder, result: ReadServer, files: ReadonlySet<string>): void;
}

/**
 * Creates an empty cache of servers.
 *
 * @param store - Tells which files changed.
 */
export function createServerCache(store: FactsStore): ServerCache {
  const cached = new Map<string, CachedServer>();
  return {
    get(folder) {
      const found = cached.get(folder.folder);
      if (found?.listing !== listingOf(folder)) return undefined;
      for (const file of found.files) if (!store.isUnchanged(file)) return undefined;
      return found;
    },
    set(folder, result, files) {
      cached.set(folder.folder, { listing: listingOf(folder), files, result });
    },
  };
}

function listingOf({ files, foreign, index, readme }: ToolFolder): string {
  return [index, readme, ...files, ...foreign].join("/");
}
