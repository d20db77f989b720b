/** Contents that are kept to merge with, in bytes. Larger ones are not. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Contents of state files that a store has read or written, by file and version. The oldest go first. */
export class KnownStates {
  readonly #contents = new Map<string, Uint8Array>();
  /** The version that each file was last seen with, and could be read in. */
  readonly #readable = new Map<string, string>();
  #bytes = 0;

  add(file: string, version: string, content: Uint8Array): void {
    this.#readable.set(file, version);
    const key = `${file} ${version}`;
    if (content.byteLength > MAX_KEPT_BYTES || this.#contents.has(key)) return;
    this.#contents.set(key, content);
    this.#bytes += content.byteLength;
    for (const [oldest, { byteLength }] of this.#contents) {
      if (this.#bytes <= MAX_KEPT_BYTES) return;
      this.#contents.delete(oldest);
      this.#bytes -= byteLength;
    }
  }

  contentOf(file: string, version: string): Uint8Array | undefined {
    return this.#contents.get(`${file} ${version}`);
  }

  /** Whether the file could be read when it had this version, so that a large one is not parsed to know it. */
  isReadable(file: string, version: string): boolean {
    return this.#readable.get(file) === version;
  }
}
