import path from "node:path";
import { GUEST_GLOBALS } from "./guest-globals.ts";
import { HostFiles, type HostFile, type ToolFolders } from "./host-files.ts";

/** The path of the checked program, as the guest sees it. */
export const PROGRAM_FILE = "/workspace/program.ts";
export const GLOBALS_FILE = "/workspace/globals.d.ts";
const TOOL_FOLDER = /^\/(?:workspace|files)(?:\/(?:servers|skills)(?:\/.*)?)?$/u;

/** Which files are not as the compiler knows them. */
export interface FileChanges {
  changed: string[];
  created: string[];
  deleted: string[];
}

interface KnownFile extends HostFile {
  /** Read when the file is first needed. */
  text?: string | undefined;
}

/**
 * The files that TypeScript sees, apart from its own library: the program and the tools. Nothing else on the host can be
 * reached.
 */
export class GuestFiles {
  readonly #host: HostFiles;
  /** Files of the host that were found. */
  readonly #known = new Map<string, KnownFile>();
  readonly #written = new Map([[GLOBALS_FILE, { stamp: "globals", text: GUEST_GLOBALS }]]);
  /** The stamps of the files as the compiler knows them; `undefined` for one that it knows to be missing. */
  readonly #told = new Map<string, string | undefined>();
  #writes = 0;

  constructor(folders: ToolFolders) {
    this.#host = new HostFiles(folders);
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

  /** Whether a file is on the host, whatever overlays it. */
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
    return this.#written.get(file)?.text ?? this.#textOf(file);
  }

  isFolder(folder: string): boolean {
    return folder === "/" || (TOOL_FOLDER.test(folder) && path.basename(folder) !== "node_modules");
  }

  /** How many files the compiler has asked for, also in vain. */
  get known(): number {
    return this.#told.size;
  }

  /** The changes of the files that the compiler asked for, since it asked or since the last call. */
  takeChanges(): FileChanges {
    const changes: FileChanges = { changed: [], created: [], deleted: [] };
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

  #hostFile(file: string): KnownFile | undefined {
    const known = this.#known.get(file);
    const stamp = this.#host.stamp(file);
    if (known !== undefined && known.stamp === stamp) return known;
    const found = stamp === undefined ? undefined : this.#host.find(file);
    if (found === undefined) this.#known.delete(file);
    else this.#known.set(file, found);
    return found;
  }

  #textOf(file: string): string | undefined {
    const known = this.#known.get(file);
    if (known === undefined) return undefined;
    try {
      return (known.text ??= known.read());
    } catch {
      return undefined;
    }
  }
}
