import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { GUEST_GLOBALS } from "./guest-globals.ts";

/** The path of the checked program, as the guest sees it. */
export const PROGRAM_FILE = "/workspace/program.ts";
export const GLOBALS_FILE = "/workspace/globals.d.ts";
/** A second path to the tools' files, where no overlay hides them. */
export const FILES_FOLDER = "/files/";
const TOOL_FOLDER = /^\/(?:workspace|files)(?:\/(?:servers|skills)(?:\/.*)?)?$/u;
const SOURCE_NAME = /\.[cm]?ts$/u;
/** A larger file is treated as missing: its imports are `any`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The host folders that the checker may read, apart from TypeScript's own library. */
export interface ToolFolders {
  serversDir?: string | undefined;
  skillsDir?: string | undefined;
}

/** A file that was found on the host. */
interface HostFile {
  /** Its path without links. */
  real: string;
  /** Changes when the file does: its inode, modification time and size. */
  stamp: string;
  /** Read when it is first needed. */
  text?: string | undefined;
}

/**
 * The files that TypeScript sees, apart from its own library: the program and the tools. Nothing else on the host can be
 * reached.
 */
export class GuestFiles {
  readonly #folders: readonly { guest: string; host: string }[];
  /** Files of the host that were found. */
  readonly #known = new Map<string, HostFile>();
  readonly #written = new Map([[GLOBALS_FILE, { stamp: "globals", text: GUEST_GLOBALS }]]);
  /** The stamps of the files that the compiler knows; `undefined` for a file that it knows to be missing. */
  readonly #told = new Map<string, string | undefined>();
  #writes = 0;

  constructor({ serversDir, skillsDir }: ToolFolders) {
    this.#folders = ["/workspace/", FILES_FOLDER]
      .flatMap((above) => [
        { guest: `${above}servers/`, host: serversDir },
        { guest: `${above}skills/`, host: skillsDir },
      ])
      .flatMap(({ guest, host }) => (host === undefined ? [] : [{ guest, host }]));
  }

  /** Overlays a file with a text. */
  write(file: string, text: string): void {
    if (this.#written.get(file)?.text === text) return;
    this.#writes += 1;
    this.#written.set(file, { stamp: `written ${this.#writes}`, text });
  }

  /** Removes the overlay of a file. */
  remove(file: string): void {
    this.#written.delete(file);
  }

  /** Whether a file is on the host, regardless of overlays. */
  isOnHost(file: string): boolean {
    return this.#hostFile(file) !== undefined;
  }

  /** Tells the compiler whether a file exists. */
  exists(file: string): boolean {
    return this.#tell(file) !== undefined;
  }

  /** Gives the compiler the text of a file. */
  read(file: string): string | undefined {
    if (this.#tell(file) === undefined) return undefined;
    return this.#written.get(file)?.text ?? textOf(this.#known.get(file));
  }

  isFolder(folder: string): boolean {
    return folder === "/" || (TOOL_FOLDER.test(folder) && path.basename(folder) !== "node_modules");
  }

  /** The number of files that the compiler has requested, including missing ones. */
  get known(): number {
    return this.#told.size;
  }

  /** Returns the changes of the requested files since the request or since the last call. */
  takeChanges() {
    const changes: Record<"changed" | "created" | "deleted", string[]> = {
      changed: [],
      created: [],
      deleted: [],
    };
    for (const [file, told] of this.#told) {
      const now = this.#tell(file);
      if (now === told) continue;
      if (told === undefined) changes.created.push(file);
      else if (now === undefined) changes.deleted.push(file);
      else changes.changed.push(file);
    }
    return changes;
  }

  #tell(file: string): string | undefined {
    const stamp = this.#written.get(file)?.stamp ?? this.#hostFile(file)?.stamp;
    this.#told.set(file, stamp);
    return stamp;
  }

  #hostFile(file: string): HostFile | undefined {
    const folder = SOURCE_NAME.test(file)
      ? this.#folders.find(({ guest }) => file.startsWith(guest))
      : undefined;
    if (folder === undefined) return undefined;
    const place = path.join(folder.host, file.slice(folder.guest.length));
    const known = this.#known.get(file);
    // Follows links without checking them: faster than finding the file again, and enough for a file found before.
    const stamp = stampOf(place);
    if (known !== undefined && known.stamp === stamp) return known;
    const found = stamp === undefined ? undefined : findInside(folder.host, place);
    if (found === undefined) this.#known.delete(file);
    else this.#known.set(file, found);
    return found;
  }
}

/** Finds a file. A link is followed only to a target in the same folder. */
function findInside(folder: string, file: string): HostFile | undefined {
  try {
    const real = realpathSync(file);
    if (!real.startsWith(realpathSync(folder) + path.sep)) return undefined;
    const stamp = stampOf(real);
    return stamp === undefined ? undefined : { real, stamp };
  } catch {
    return undefined;
  }
}

function textOf(file: HostFile | undefined): string | undefined {
  try {
    return file && (file.text ??= readFileSync(file.real, "utf8"));
  } catch {
    return undefined;
  }
}

/** A stamp that changes when the file does. `undefined` when the file can't be read or is too large. */
function stampOf(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
    return `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch {
    return undefined;
  }
}
