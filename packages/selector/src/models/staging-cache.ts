import { createWriteStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * The cache that the hub code of the library writes to: a folder with the files of one revision. The library's own may write
 * on after a file has failed.
 */
export class StagingCache {
  readonly #folder: string;
  readonly #base: string;
  readonly #writing = new Set<Promise<void>>();
  readonly #written = new Map<string, string>();
  #isClosed = false;
  /** Why a file could not be written. The library goes on without. */
  failure: unknown;

  /** @param base - The URL below which the files are. */
  constructor(folder: string, base: string) {
    this.#folder = folder;
    this.#base = base;
  }

  /** What was written of a URL: weights as their path, since they are loaded from there. */
  async match(url: string): Promise<Response | string | undefined> {
    const file = this.#written.get(url);
    if (file === undefined) return undefined;
    return file.endsWith(".json") ? new Response(await readFile(file)) : file;
  }

  /** Writes a file. After `close` it does nothing. */
  async put(url: string, response: Response): Promise<void> {
    if (this.#isClosed || response.body === null || !url.startsWith(this.#base)) return;
    const writing = this.#write(url, response.body);
    this.#writing.add(writing);
    try {
      await writing;
    } catch (error) {
      this.failure ??= error;
      throw error;
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** Waits for what is being written, and writes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#writing);
  }

  async #write(url: string, body: ReadableStream<Uint8Array>): Promise<void> {
    const file = path.join(this.#folder, decodeURIComponent(url.slice(this.#base.length)));
    await mkdir(path.dirname(file), { recursive: true });
    await pipeline(Readable.fromWeb(body), createWriteStream(file));
    this.#written.set(url, file);
  }
}
