import type { FactsStore } from "./facts-store.ts";
import type { ReadServer } from "./read-server.ts";
import type { ToolFolder } from "./scan-folders.ts";

/** What was put together for a folder, and from which files. */
interface Remembered {
  listing: string;
  files: ReadonlySet<string>;
  result: ReadServer;
}

/** Remembers what folders gave, for as long as nothing in them changes. */
export interface ServerMemory {
  /** What the folder gave, if that still holds, and the files behind it. */
  recall(folder: ToolFolder): { result: ReadServer; files: ReadonlySet<string> } | undefined;
  remember(folder: ToolFolder, result: ReadServer, files: ReadonlySet<string>): void;
}

export function createServerMemory(store: FactsStore): ServerMemory {
  const remembered = new Map<string, Remembered>();
  return {
    recall(folder) {
      const found = remembered.get(folder.folder);
      if (found?.listing !== listingOf(folder)) return undefined;
      for (const file of found.files) if (!store.isUnchanged(file)) return undefined;
      return found;
    },
    remember(folder, result, files) {
      remembered.set(folder.folder, { listing: listingOf(folder), files, result });
    },
  };
}

function listingOf({ files, index, readme }: ToolFolder): string {
  return [index, readme, ...files].join("/");
}
