import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";

/** The tools' files once more, where nothing is written in their place. */
export const FILES_FOLDER = "/files/";
const SOURCE_NAME = /\.[cm]?ts$/u;
/** A larger file counts as not there: what is imported from it is `any`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The folders on the host that the checker may read, beside TypeScript's own library. */
export interface ToolFolders {
  serversDir?: string | undefined;
  skillsDir?: string | undefined;
}

/** A file as it is on the host now. */
export interface HostFile {
  stamp: string;
  read(): string;
}

/** The tools' files by the names the guest has for them. Nothing else on the host can be named. */
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

  /** A link may stand in a tool folder; what it leads to has to be in there too. */
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
