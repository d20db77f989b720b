import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { HostFiles, type ToolFolders } from "./host-files.ts";

const FORMAT = "cem-types-1";
const FILE_NAME = "type-checks.json";
/** The most entries; the oldest are dropped. */
const MAX_ENTRIES = 500;
const MAX_FILES_PER_ENTRY = 64;
/** A larger file was not written by this cache and is ignored. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Stands for the hash of a file that did not exist. */
export const MISSING_FILE = "missing";
/** Content hashes of the tools' files by their guest paths. */
export type FileHashes = Record<string, string>;

interface Content {
  format: string;
  /** The keys of checks without findings and the files they depend on, newest last. */
  clean: [key: string, files: FileHashes][];
}

/** A file that caches, across processes, which checks had no findings. A file that can't be used counts as empty. */
export class CheckCache {
  readonly #folder: string;
  readonly #files: HostFiles;

  constructor(folder: string, folders: ToolFolders) {
    this.#folder = folder;
    this.#files = new HostFiles(folders);
  }

  /** Whether the check of this key had no findings and the files it depends on are unchanged. */
  async has(key: string): Promise<boolean> {
    const entry = (await this.#read()).findLast(([known]) => known === key);
    return entry !== undefined && Object.entries(entry[1]).every(([file, hash]) => this.#hasHash(file, hash));
  }

  /** Whether a check whose key starts like this had no findings, with the files as they were then. */
  async hasAny(prefix: string): Promise<boolean> {
    return (await this.#read()).some(([known]) => known.startsWith(prefix));
  }

  /** Adds a check without findings. */
  async add(key: string, files: FileHashes): Promise<void> {
    if (Object.keys(files).length > MAX_FILES_PER_ENTRY) return;
    const others = (await this.#read()).filter(([known]) => known !== key);
    const clean: Content["clean"] = [...others, [key, files]];
    const content: Content = { format: FORMAT, clean: clean.slice(-MAX_ENTRIES) };
    try {
      const { default: writeFileAtomic } = await import("write-file-atomic");
      await mkdir(this.#folder, { recursive: true });
      await writeFileAtomic(path.join(this.#folder, FILE_NAME), JSON.stringify(content), { fsync: false });
    } catch {
      // A folder that can't be written: the next check is not cached either.
    }
  }

  async #read(): Promise<Content["clean"]> {
    const file = path.join(this.#folder, FILE_NAME);
    try {
      if ((await stat(file)).size > MAX_FILE_BYTES) return [];
      const content = JSON.parse(await readFile(file, "utf8")) as Partial<Content> | null;
      return content?.format === FORMAT && Array.isArray(content.clean) ? content.clean.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  #hasHash(file: string, hash: string): boolean {
    try {
      const found = this.#files.find(file);
      return found === undefined ? hash === MISSING_FILE : hashOf(found.read()) === hash;
    } catch {
      return false;
    }
  }
}

/** The SHA-256 hash of a text, in base64. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function isEntry(entry: unknown): entry is [string, FileHashes] {
  if (!Array.isArray(entry)) return false;
  const [key, files] = entry as unknown[];
  return typeof key === "string" && typeof files === "object" && files !== null;
}
