import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { HostFiles, stampOf, type ToolFolders } from "./compiler/host-files.ts";

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

/**
 * A file that caches, across processes, which checks had no findings. A file that can't be used counts as empty. Its entries
 * are held in memory, read again when another process has written them, and written some time after they were added.
 */
export class CheckCache {
  readonly #folder: string;
  readonly #files: HostFiles;
  readonly #writeAfterMs: number;
  /** The content of the file when it was last read or written. */
  #entries = new Map<string, FileHashes>();
  /** Of the file whose entries are held. */
  #stamp: string | undefined;
  /** Added, and not written yet. */
  readonly #added = new Map<string, FileHashes>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param writeAfterMs - How long what is added may wait, in milliseconds, so that more is written at once. */
  constructor(folder: string, folders: ToolFolders, writeAfterMs = 1_000) {
    this.#folder = folder;
    this.#files = new HostFiles(folders);
    this.#writeAfterMs = writeAfterMs;
  }

  /** Whether the check of this key had no findings and the files it depends on are unchanged. */
  async has(key: string): Promise<boolean> {
    const files = this.#added.get(key) ?? (await this.#read()).get(key);
    return files !== undefined && Object.entries(files).every(([file, hash]) => this.#hasHash(file, hash));
  }

  /** Whether a check whose key starts like this had no findings, with the files as they were then. */
  async hasAny(prefix: string): Promise<boolean> {
    return [...this.#added.keys(), ...(await this.#read()).keys()].some((known) => known.startsWith(prefix));
  }

  /** Adds a check without findings. */
  add(key: string, files: FileHashes): void {
    if (Object.keys(files).length > MAX_FILES_PER_ENTRY) return;
    this.#added.delete(key);
    this.#added.set(key, files);
    this.#timer ??= setTimeout(() => void this.flush(), this.#writeAfterMs).unref();
  }

  /** Writes what was added. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#added.size === 0) return;
    const entries = new Map(await this.#read());
    for (const [key, files] of this.#added) {
      entries.delete(key);
      entries.set(key, files);
    }
    this.#added.clear();
    const content: Content = { format: FORMAT, clean: [...entries].slice(-MAX_ENTRIES) };
    this.#entries = new Map(content.clean);
    try {
      const { replaceFile } = await import("@cem/core/files");
      await replaceFile(this.#file, JSON.stringify(content));
    } catch {
      // A folder that can't be written: the entries are known to this process only.
    }
    this.#stamp = this.#stampNow();
  }

  async #read(): Promise<ReadonlyMap<string, FileHashes>> {
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return this.#entries;
    const entries = stamp === undefined ? new Map<string, FileHashes>() : await this.#readFile();
    this.#stamp = stamp;
    this.#entries = entries;
    return entries;
  }

  async #readFile(): Promise<Map<string, FileHashes>> {
    try {
      const content = JSON.parse(await readFile(this.#file, "utf8")) as Partial<Content> | null;
      if (content?.format !== FORMAT || !Array.isArray(content.clean)) return new Map();
      return new Map(content.clean.filter(isEntry));
    } catch {
      return new Map();
    }
  }

  get #file(): string {
    return path.join(this.#folder, FILE_NAME);
  }

  #stampNow(): string | undefined {
    return stampOf(this.#file, MAX_FILE_BYTES);
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
