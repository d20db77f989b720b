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
  /** Changes when the file does: its modification time and size. */
  stamp: string;
  read(): string;
}

/** Finds the tools' files on the host by their guest paths. Nothing else on the host can be reached. */
export class HostFiles {
  readonly #folders: readonly { guest: string; host: string }[];

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
    const folder = this.#folders.find(({ guest }) => file.startsWith(guest));
    if (folder === undefined || !SOURCE_NAME.test(file)) return undefined;
    try {
      const real = realpathSync(path.join(folder.host, file.slice(folder.guest.length)));
      if (!real.startsWith(realpathSync(folder.host) + path.sep)) return undefined;
      const { size, mtimeMs } = statSync(real);
      if (size > MAX_FILE_BYTES) return undefined;
      return { stamp: `${mtimeMs} ${size}`, read: () => readFileSync(real, "utf8") };
    } catch {
      return undefined;
    }
  }
}
