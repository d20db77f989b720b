import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { GUEST_GLOBALS } from "./guest-globals.ts";
import { unknownAsAny } from "./unknown-as-any.ts";

/** Where the checked program stands, as the guest sees it. */
export const PROGRAM_FILE = "/workspace/program.ts";
export const LIBRARY_FOLDER = "/lib/";
const GLOBALS_FILE = "/workspace/globals.d.ts";
const LIBRARY_NAME = /^lib(?:\.[a-z0-9]+)*\.d\.ts$/u;
const SOURCE_NAME = /\.[cm]?ts$/u;
/** A larger file counts as not there: what is imported from it is `any`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The folders on the host that the checker may read, beside TypeScript's own library. */
export interface ToolFolders {
  serversDir?: string;
  skillsDir?: string;
}

interface KnownFile {
  stamp: string;
  text: string;
}

/** The files a check sees: the program, the tools and the library. Nothing else on the host can be named. */
export class GuestFiles {
  readonly #folders: readonly { guest: string; host: string }[];
  readonly #library = path.dirname(ts.sys.getExecutingFilePath());
  readonly #known = new Map<string, KnownFile>();
  readonly #written = new Map<string, KnownFile>([[GLOBALS_FILE, { stamp: "1", text: GUEST_GLOBALS }]]);
  #writes = 0;

  constructor({ serversDir, skillsDir }: ToolFolders) {
    this.#folders = [
      { guest: "/workspace/servers/", host: serversDir },
      { guest: "/workspace/skills/", host: skillsDir },
    ].flatMap(({ guest, host }) => (host === undefined ? [] : [{ guest, host }]));
  }

  /** What every check begins with. */
  get roots(): string[] {
    return [PROGRAM_FILE, GLOBALS_FILE];
  }

  /** Puts a text in place of a file. */
  write(file: string, text: string): void {
    if (this.#written.get(file)?.text === text) return;
    this.#writes += 1;
    this.#written.set(file, { stamp: `written ${this.#writes}`, text });
  }

  remove(file: string): void {
    this.#written.delete(file);
  }

  exists(file: string): boolean {
    return this.#find(file) !== undefined;
  }

  read(file: string): string | undefined {
    return this.#find(file)?.text;
  }

  /** Differs when the file does. */
  version(file: string): string {
    return this.#find(file)?.stamp ?? "missing";
  }

  #find(file: string): KnownFile | undefined {
    const written = this.#written.get(file);
    if (written !== undefined) return written;
    if (file.startsWith(LIBRARY_FOLDER)) return this.#libraryFile(file);
    const folder = this.#folders.find(({ guest }) => file.startsWith(guest));
    if (folder === undefined || !SOURCE_NAME.test(file)) return undefined;
    return this.#hostFile(file, folder.host, file.slice(folder.guest.length));
  }

  #libraryFile(file: string): KnownFile | undefined {
    const known = this.#known.get(file);
    if (known !== undefined) return known;
    const name = file.slice(LIBRARY_FOLDER.length);
    if (!LIBRARY_NAME.test(name)) return undefined;
    try {
      const read = { stamp: "1", text: readFileSync(path.join(this.#library, name), "utf8") };
      this.#known.set(file, read);
      return read;
    } catch {
      return undefined;
    }
  }

  /** A link may stand in a tool folder; what it leads to has to be in there too. */
  #hostFile(file: string, folder: string, name: string): KnownFile | undefined {
    try {
      const real = realpathSync(path.join(folder, name));
      if (!real.startsWith(realpathSync(folder) + path.sep)) return undefined;
      const { size, mtimeMs } = statSync(real);
      if (size > MAX_FILE_BYTES) return undefined;
      const stamp = `${mtimeMs} ${size}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known;
      const read = { stamp, text: unknownAsAny(readFileSync(real, "utf8")) };
      this.#known.set(file, read);
      return read;
    } catch {
      return undefined;
    }
  }
}
