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
/**
 * The files of tools that run on the host. They are next to the guest's modules, which don't export them, and hidden from
 * code: a finding would show the constants that they export.
 */
export const HOST_TOOL_FILE: RegExp = /\.host\.m?[jt]s$/iu;
/** A larger file is treated as missing: its imports are `any`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The host folders that the checker may read, apart from TypeScript's own library. */
export interface ToolFolders {
  serversDir?: string | undefined;
  skillsDir?: string | undefined;
}

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
export type GuestFiles = ReturnType<typeof createGuestFiles>;

export function createGuestFiles({ serversDir, skillsDir }: ToolFolders) {
  const folders = ["/workspace/", FILES_FOLDER]
    .flatMap((above) => [
      { guest: `${above}servers/`, host: serversDir },
      { guest: `${above}skills/`, host: skillsDir },
    ])
    .flatMap(({ guest, host }) => (host === undefined ? [] : [{ guest, host }]));
  const found = new Map<string, HostFile>();
  const overlays = new Map([[GLOBALS_FILE, { stamp: "globals", text: GUEST_GLOBALS }]]);
  /** The stamps of the files that the compiler knows; `undefined` for a file that it knows to be missing. */
  const told = new Map<string, string | undefined>();
  let writes = 0;

  function tell(file: string): string | undefined {
    const stamp = overlays.get(file)?.stamp ?? hostFile(file)?.stamp;
    told.set(file, stamp);
    return stamp;
  }

  function hostFile(file: string): HostFile | undefined {
    const folder = SOURCE_NAME.test(file) ? folders.find(({ guest }) => file.startsWith(guest)) : undefined;
    if (folder === undefined) return undefined;
    const place = path.join(folder.host, file.slice(folder.guest.length));
    const known = found.get(file);
    // Follows links without checking them: faster than finding the file again, and enough for a file found before.
    const stamp = stampOf(place);
    if (known !== undefined && known.stamp === stamp) return known;
    const fresh = stamp === undefined ? undefined : findInside(folder.host, place);
    if (fresh === undefined) found.delete(file);
    else found.set(file, fresh);
    return fresh;
  }

  return {
    write(file: string, text: string): void {
      if (overlays.get(file)?.text === text) return;
      writes += 1;
      overlays.set(file, { stamp: `written ${writes}`, text });
    },
    remove: (file: string): void => void overlays.delete(file),
    /** Whether a file is on the host, regardless of overlays. */
    isOnHost: (file: string): boolean => hostFile(file) !== undefined,
    /** Tells the compiler whether a file exists. */
    exists: (file: string): boolean => tell(file) !== undefined,
    /** Gives the compiler the text of a file. */
    read(file: string): string | undefined {
      if (tell(file) === undefined) return undefined;
      return overlays.get(file)?.text ?? textOf(found.get(file));
    },
    isFolder(folder: string): boolean {
      return folder === "/" || (TOOL_FOLDER.test(folder) && path.basename(folder) !== "node_modules");
    },
    /** The number of files that the compiler has requested, including missing ones. */
    get known(): number {
      return told.size;
    },
    /** Returns the changes of the requested files since the request or since the last call. */
    takeChanges() {
      const [changed, created, deleted]: [string[], string[], string[]] = [[], [], []];
      for (const [file, before] of told) {
        const now = tell(file);
        if (now === before) continue;
        if (before === undefined) created.push(file);
        else if (now === undefined) deleted.push(file);
        else changed.push(file);
      }
      return { changed, created, deleted };
    },
  };
}

/** Finds a file, unless it is hidden from code. A link is followed only to a target in the same folder. */
function findInside(folder: string, file: string): HostFile | undefined {
  try {
    const real = realpathSync(file);
    if (!real.startsWith(realpathSync(folder) + path.sep) || HOST_TOOL_FILE.test(real)) return undefined;
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
