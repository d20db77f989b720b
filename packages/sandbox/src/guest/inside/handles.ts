import type { Primordials } from "./primordials.ts";

/** A piece of a kept result. */
export interface KeptPiece {
  bytes: Uint8Array;
  /** The whole, in bytes. */
  size: number;
}

/** Settings of {@link createHandles}, provided by the guest. */
export interface HandleSettings {
  /** Reads bytes of a file in which the host keeps a result. */
  readKept(path: string, offset: number, limit: number): Promise<KeptPiece>;
  /** Reads a file in which the host keeps a result. */
  readText(path: string): Promise<string>;
  /** The text of the bytes up to `end`. */
  decode(bytes: Uint8Array, end: number): string;
}

/** Creates the function that adds methods to every handle in a tool's result. */
export function createHandles(
  primordials: Primordials,
  { readKept, readText, decode }: HandleSettings,
): (value: unknown) => unknown {
  const { create, defineProperty, execPattern, isArray, keys, max, parseJson } = primordials;
  /** The only paths that a handle may read: files in which the host keeps results. */
  const KEPT_PATH = /^\/workspace\/results\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
  const KINDS = ["image", "audio", "resource", "text", "json"];
  /** Depth to which a result is searched for handles. */
  const MAX_DEPTH = 64;
  const DEFAULT_PAGE_BYTES = 64 * 1024;
  /** A character takes up to four bytes; a page has room for one. */
  const MIN_PAGE_BYTES = 4;

  interface Handle {
    type: string;
    mimeType: string;
    path: string;
  }

  /** A page of a kept text. */
  interface TextPage {
    text: string;
    /** Where it begins, in bytes. */
    offset: number;
    /** Where the next one begins; `null` after the last. */
    next: number | null;
    /** The whole, in bytes. */
    size: number;
  }

  function isHandle(value: Record<string, unknown>): boolean {
    const { type, path, mimeType, size } = value;
    if (typeof path !== "string" || typeof mimeType !== "string" || typeof size !== "number") return false;
    let isKind = false;
    for (let index = 0; index < KINDS.length; index += 1) if (KINDS[index] === type) isKind = true;
    return isKind && execPattern(KEPT_PATH, path) !== null;
  }

  /** The methods are not enumerable, so a handle's JSON stays the same. */
  function revive(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
    if (isArray(value)) {
      for (let index = 0; index < value.length; index += 1) revive(value[index], depth + 1);
      return value;
    }
    const members = value as Record<string, unknown>;
    if (isHandle(members)) {
      addMethods(members as unknown as Handle);
      return value;
    }
    const names = keys(members);
    for (let index = 0; index < names.length; index += 1) revive(members[names[index] as string], depth + 1);
    return value;
  }

  function addMethods(handle: Handle): void {
    // The methods use these copies, whatever the program does to the object.
    const { type, mimeType, path } = handle;
    const assertText = (): void => {
      if (type !== "image" && type !== "audio") return;
      throw new TypeError(`This result is ${mimeType}, not text. Use bytes(), or read ${path} as a file.`);
    };
    const text = async (): Promise<string> => {
      assertText();
      return readText(path);
    };
    const methods = create(null) as Record<string, unknown>;
    methods["page"] = async (offset = 0, limit = DEFAULT_PAGE_BYTES): Promise<TextPage> => {
      assertText();
      return readPage(path, offset, limit);
    };
    methods["text"] = text;
    methods["json"] = async (): Promise<unknown> => parseJson(await text());
    methods["bytes"] = async (offset = 0, limit = Infinity): Promise<Uint8Array> =>
      (await read(path, offset, limit)).bytes;
    const names = keys(methods);
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      defineProperty(handle, name, { value: methods[name], writable: true, configurable: true });
    }
  }

  async function read(path: string, offset: number, limit: number): Promise<KeptPiece> {
    if (!(offset >= 0) || !(limit >= 0)) {
      throw new RangeError(`offset and limit are numbers of bytes from 0 on, not ${offset} and ${limit}.`);
    }
    return readKept(path, offset, limit);
  }

  async function readPage(path: string, offset: number, limit: number): Promise<TextPage> {
    const { bytes, size } = await read(path, offset, max(MIN_PAGE_BYTES, limit));
    // A character cut by the end of the page belongs to the next page.
    const end = offset + bytes.length < size ? wholeCharacters(bytes) : bytes.length;
    const next = offset + end;
    return {
      text: decode(bytes, end),
      offset,
      next: next < size && end > 0 ? next : null,
      size,
    };
  }

  /** How many bytes are left without the beginning of a character at the end. */
  function wholeCharacters(bytes: Uint8Array): number {
    for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
      const byte = bytes[bytes.length - back] as number;
      const isContinuation = byte >= 0x80 && byte < 0xc0;
      if (isContinuation) continue;
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? bytes.length - back : bytes.length;
    }
    return bytes.length;
  }

  return (value) => revive(value, 0);
}
