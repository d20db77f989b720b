import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";

/** A second path to the tools' files, where no overlay hides them. */
export const FILES_FOLDER = "/files/";
const SOURCE_NAME = /\.[cm]?ts$/u;
/** A larger file is treated as missing: what is imported from it is `any`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The host folders that the checker may read, apart from TypeScript's own library. */
export interface ToolFolders {
  serversDir?: string | undefined;
  skillsDir?: string | undefined;
}

/** A file on the host. */
export interface HostFile {
  /** Changes when the file does: its inode, modification time and size. */
  stamp: string;
  read(): string;
}

interface Folder {
  guest: string;
  host: string;
}

/** Finds the tools' files on the host by their guest paths. Nothing else on the host can be reached. */
export class HostFiles {
  readonly #folders: readonly Folder[];

  constructor({ serversDir, skillsDir }: ToolFolders) {
    this.#folders = ["/workspace/", FILES_FOLDER]
      .flatMap((above) => [
        { guest: `${above}servers/`, host: serversDir },
        { guest: `${above}skills/`, host: skillsDir },
      ])
      .flatMap(({ guest, host }) => (host === undefined ? [] : [{ guest, host }]));
  }

  /** Finds a file. A link in a tool folder is followed only to a target in the same folder. */
  find(file: string): HostFile | undefined {
    const folder = this.#folderOf(file);
    if (folder === undefined) return undefined;
    const real = realPath(hostPath(file, folder));
    const root = realPath(folder.host);
    if (real === undefined || root === undefined || !real.startsWith(root + path.sep)) return undefined;
    const stamp = stampOf(real);
    return stamp === undefined ? undefined : { stamp, read: () => readFileSync(real, "utf8") };
  }

  /** The stamp that a file has now, wherever its links lead. Quicker than {@link find}, and enough for a file found before. */
  stamp(file: string): string | undefined {
    const folder = this.#folderOf(file);
    return folder === undefined ? undefined : stampOf(hostPath(file, folder));
  }

  #folderOf(file: string): Folder | undefined {
    return SOURCE_NAME.test(file) ? this.#folders.find(({ guest }) => file.startsWith(guest)) : undefined;
  }
}

function hostPath(file: string, { guest, host }: Folder): string {
  return path.join(host, file.slice(guest.length));
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** A stamp that changes when the file does. `undefined` where no file could be read, or for a larger one. */
function stampOf(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
    return `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch {
    return undefined;
  }
}
