import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { GUEST_GLOBALS } from "./guest-globals.ts";
import { HostFiles, type ToolFolders } from "./host-files.ts";
import { unknownAsAny } from "./unknown-as-any.ts";
import { hashOf } from "./check-cache.ts";

/** The path of the checked program, as the guest sees it. */
export const PROGRAM_FILE = "/workspace/program.ts";
export const LIBRARY_FOLDER = "/lib/";
const GLOBALS_FILE = "/workspace/globals.d.ts";
const LIBRARY_NAME = /^lib(?:\.[a-z0-9]+)*\.d\.ts$/u;

interface KnownFile {
  /** Changes when the text does. */
  stamp: string;
  text: string;
  /** The hash of the file on the host; absent for a file that is not from there. */
  hash?: string | undefined;
}

/** The files that TypeScript sees: the program, the tools and the library. Nothing else on the host can be reached. */
export class GuestFiles {
  readonly #host: HostFiles;
  readonly #library = path.dirname(ts.sys.getExecutingFilePath());
  readonly #known = new Map<string, KnownFile>();
  readonly #written = new Map<string, KnownFile>([[GLOBALS_FILE, { stamp: "1", text: GUEST_GLOBALS }]]);
  #writes = 0;

  constructor(folders: ToolFolders) {
    this.#host = new HostFiles(folders);
  }

  /** The files that every check starts from. */
  get roots(): string[] {
    return [PROGRAM_FILE, GLOBALS_FILE];
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

  exists(file: string): boolean {
    return this.#find(file) !== undefined;
  }

  read(file: string): string | undefined {
    return this.#find(file)?.text;
  }

  /** A text that changes when the file does. */
  version(file: string): string {
    return this.#find(file)?.stamp ?? "missing";
  }

  /** The content hash of a file on the host; `undefined` for an overlay or a missing file. */
  hostHash(file: string): string | undefined {
    return this.#find(file)?.hash;
  }

  #find(file: string): KnownFile | undefined {
    const written = this.#written.get(file);
    if (written !== undefined) return written;
    if (file.startsWith(LIBRARY_FOLDER)) return this.#libraryFile(file);
    return this.#hostFile(file);
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

  #hostFile(file: string): KnownFile | undefined {
    try {
      const found = this.#host.find(file);
      const known = this.#known.get(file);
      if (found === undefined || known?.stamp === found.stamp) return found && known;
      const text = found.read();
      const read = { stamp: found.stamp, text: unknownAsAny(text), hash: hashOf(text) };
      this.#known.set(file, read);
      return read;
    } catch {
      return undefined;
    }
  }
}
