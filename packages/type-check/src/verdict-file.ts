import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { HostFiles, type ToolFolders } from "./host-files.ts";

const FORMAT = "cem-types-1";
const FILE_NAME = "type-checks.json";
/** The oldest go first. */
const MAX_VERDICTS = 500;
const MAX_FILES_OF_VERDICT = 64;
/** A larger file was not written here. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** In place of a hash: there was no such file. */
export const MISSING_FILE = "missing";
/** What the tools' files held, by the names the guest has for them. */
export type FileHashes = Record<string, string>;

interface Content {
  format: string;
  /** Keys of code in which nothing was found, and the files that this hangs on. The newest last. */
  clean: [key: string, files: FileHashes][];
}

/** Remembers for the next process in which code nothing was found. What can't be read or written is as good as none. */
export class VerdictFile {
  readonly #folder: string;
  readonly #files: HostFiles;

  constructor(folder: string, folders: ToolFolders) {
    this.#folder = folder;
    this.#files = new HostFiles(folders);
  }

  /** Whether the code of this key was checked before, against the files as they are now. */
  async has(key: string): Promise<boolean> {
    const verdict = (await this.#read()).findLast(([known]) => known === key);
    return verdict !== undefined && Object.entries(verdict[1]).every(([file, hash]) => this.#is(file, hash));
  }

  async add(key: string, files: FileHashes): Promise<void> {
    if (Object.keys(files).length > MAX_FILES_OF_VERDICT) return;
    const others = (await this.#read()).filter(([known]) => known !== key);
    const clean: Content["clean"] = [...others, [key, files]];
    const content: Content = { format: FORMAT, clean: clean.slice(-MAX_VERDICTS) };
    const fresh = path.join(this.#folder, `${FILE_NAME}.${randomUUID()}`);
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(fresh, JSON.stringify(content));
      await rename(fresh, path.join(this.#folder, FILE_NAME));
    } catch {
      await rm(fresh, { force: true }).catch(() => undefined);
    }
  }

  async #read(): Promise<Content["clean"]> {
    const file = path.join(this.#folder, FILE_NAME);
    try {
      if ((await stat(file)).size > MAX_FILE_BYTES) return [];
      const content = JSON.parse(await readFile(file, "utf8")) as Partial<Content> | null;
      return content?.format === FORMAT && Array.isArray(content.clean)
        ? content.clean.filter(isVerdict)
        : [];
    } catch {
      return [];
    }
  }

  #is(file: string, hash: string): boolean {
    try {
      const found = this.#files.find(file);
      return found === undefined ? hash === MISSING_FILE : hashOf(found.read()) === hash;
    } catch {
      return false;
    }
  }
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function isVerdict(entry: unknown): entry is [string, FileHashes] {
  if (!Array.isArray(entry)) return false;
  const [key, files] = entry as unknown[];
  return typeof key === "string" && typeof files === "object" && files !== null;
}
