import type { Ask, HostFunction, Primordials } from "./primordials.ts";

/** Creates the functions that give programs access to results that the host keeps in files. */
export function createHandles(primordials: Primordials, host: HostFunction, ask: Ask) {
  const { ProxyConstructor, SafeWeakMap, byteText, bytesOf, constructors, create } = primordials;
  const { defineValue, execPattern, has, indexOfText, isArray, keys, max, ownKeys, ownProperty } =
    primordials;
  const { parseJson, sliceText } = primordials;
  /** The only paths that a handle may read: files in which the host keeps results. */
  const KEPT_PATH = /^\/workspace\/results\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
  const KIND = /^(?:image|audio|resource|text|json)$/;
  /** Depth to which a result is searched for handles. */
  const MAX_DEPTH = 64;
  const DEFAULT_PAGE_BYTES = 64 * 1024;
  /** A character takes up to four bytes; a page has room for one. */
  const MIN_PAGE_BYTES = 4;
  /** A larger result is not read as a whole: parsed, it takes several times its size. */
  const MAX_READ_BYTES = 32 * 1024 * 1024;
  /** A larger list is read when the program first accesses it. */
  const MAX_READ_AT_ONCE_BYTES = 8 * 1024 * 1024;
  const CHUNK_BYTES = 256 * 1024;
  const unread = new SafeWeakMap<object | undefined>();
  const texts = new SafeWeakMap<Handle>();

  interface Handle {
    type: string;
    mimeType: string;
    size: number;
    path: string;
    shape?: Shape;
  }

  /** The form of a result that was kept as a whole; for an object, its names and small members. */
  type Shape =
    | { kind: "list" | "text" | "record" }
    | { kind: "object"; names: string[]; small: Record<string, unknown> };

  interface TextPage {
    text: string;
    /** Its offset, in bytes. */
    offset: number;
    /** The offset of the next one; `null` after the last. */
    next: number | null;
    /** The whole, in bytes. */
    size: number;
  }

  function isHandle(value: Record<string, unknown>): boolean {
    const { type, path, mimeType, size } = value;
    if (typeof path !== "string" || typeof mimeType !== "string" || typeof size !== "number") return false;
    const isKind = typeof type === "string" && execPattern(KIND, type) !== null;
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
      const handle = members as unknown as Handle;
      const { shape } = handle;
      if (depth === 0 && isShape(shape)) {
        delete handle.shape;
        return inShape(handle, shape);
      }
      addMethods(handle, handle);
      return value;
    }
    const names = keys(members);
    for (let index = 0; index < names.length; index += 1) revive(members[names[index] as string], depth + 1);
    return value;
  }

  /** A server may send anything that looks like a handle. */
  function isShape(shape: unknown): shape is Shape {
    if (typeof shape !== "object" || shape === null) return false;
    const { kind, names, small } = shape as Record<string, unknown>;
    if (kind === "list" || kind === "text" || kind === "record") return true;
    if (kind !== "object" || !isArray(names) || typeof small !== "object" || small === null) return false;
    for (let index = 0; index < names.length; index += 1) if (typeof names[index] !== "string") return false;
    return true;
  }

  function inShape(handle: Handle, shape: Shape): unknown {
    const { size, path } = handle;
    if (shape.kind === "text" && size <= MAX_READ_BYTES) return readText(path);
    if (shape.kind === "list" && size <= MAX_READ_AT_ONCE_BYTES) {
      const list = parseJson(readText(path)) as object;
      addMethods(list, handle);
      return list;
    }
    return onUse(handle, shape);
  }

  /** Reads the text of a result. @throws RangeError for one that is too large, with the way to read it. */
  function readWhole({ size, path }: Handle): string {
    if (size <= MAX_READ_BYTES) return readText(path);
    throw new constructors.RangeError(
      `This result has ${size} bytes, which is too much to read at once. Read it in parts: await result.page(offset, limit) gives { text, next }, await result.bytes(offset, limit) bytes, and for (const item of result.items("name")) takes the items of that list in it one by one (items() of a result that is a list).`,
    );
  }

  /** Creates a list or an object that is loaded when the program first accesses a member that was not sent with it. */
  function onUse(handle: Handle, shape: Shape): object {
    const target: object = shape.kind === "list" ? [] : {};
    const known = shape.kind === "object" ? shape : undefined;
    for (let index = 0; index < (known?.names.length ?? 0); index += 1) {
      const name = known?.names[index] as string;
      // JSON has no `undefined`: it marks a member that is not read yet.
      defineValue(target, name, ownProperty(known?.small as object, name)?.value, true);
    }
    addMethods(target, handle);
    const read = (): object => {
      if (unread.get(proxy) === undefined) return target;
      const whole = parseJson(readWhole(handle)) as Record<string, unknown>;
      unread.set(proxy, undefined);
      const names = known?.names ?? keys(whole);
      for (let index = 0; index < names.length; index += 1) {
        const name = names[index] as string;
        const own = ownProperty(target, name);
        // A program may have replaced or deleted it.
        if (known === undefined || (own !== undefined && own.value === undefined))
          defineValue(target, name, whole[name], true);
      }
      return target;
    };
    const isThere = (name: string | symbol): boolean => {
      const own = ownProperty(target, name);
      // `then` is looked up whenever a result is awaited.
      if (own === undefined) return known !== undefined || name === "then";
      return own.value !== undefined && (name !== "length" || !isArray(target));
    };
    const named = (): object => (known === undefined ? read() : target);
    const traps = create(null) as ProxyHandler<object>;
    traps.get = (_, name) =>
      (isThere(name) ? target : (read() as Record<string | symbol, unknown>))[name as never];
    traps.has = (_, name) => has(named(), name);
    traps.ownKeys = () => ownKeys(named());
    traps.getOwnPropertyDescriptor = (_, name) => ownProperty(named(), name);
    const proxy = new ProxyConstructor(target, traps);
    unread.set(proxy, handle);
    return proxy;
  }

  /** Adds the methods of a handle; to a result in its original shape, also the fields of the handle. */
  function addMethods(target: object, handle: Handle): void {
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
      assertCount("limit", limit);
      return readPage(path, offset, limit);
    };
    methods["text"] = text;
    methods["json"] = async (): Promise<unknown> => parseJson(await text());
    methods["bytes"] = async (offset = 0, limit = Infinity): Promise<Uint8Array> =>
      (await read(path, offset, limit)).bytes;
    methods["items"] = (...names: string[]): Generator => items(path, names);
    if (target === handle)
      methods["toString"] = (): never => {
        assertText();
        throw new constructors.TypeError(
          `This result is no text, it is a handle of ${handle.size} bytes: await result.text() gives the text, await result.page(offset, limit) a part as { text, next }.`,
        );
      };
    if (target === handle && type === "text") texts.set(target, { type, mimeType, path, size: handle.size });
    if (target !== handle) addHidden(target, handle as unknown as Record<string, unknown>);
    addHidden(target, methods);
  }

  /** Adds members that are not enumerable. A result keeps its own of the same name. */
  function addHidden(target: object, members: Record<string, unknown>): void {
    const names = keys(members);
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      if (ownProperty(target, name) === undefined) defineValue(target, name, members[name], false);
    }
  }

  const readText = (path: string): string => ask("file", "readTextFileSync", path);

  function assertCount(name: string, value: unknown): void {
    if (typeof value === "number" && value >= 0 && (value % 1 === 0 || value === Infinity)) return;
    // An object is not converted to text: its code would run here.
    const given = typeof value === "number" || value === null ? `${value}` : typeof value;
    throw new RangeError(`${name} is a whole number of bytes from 0 on, not ${given}.`);
  }

  /** Bytes of a kept result, and the size of the whole. */
  async function read(path: string, offset: number, limit: number) {
    assertCount("offset", offset);
    assertCount("limit", limit);
    const answer = ask("readKept", path, offset, limit);
    const comma = indexOfText(answer, ",", 0);
    const size = primordials.toNumber(sliceText(answer, 0, comma));
    return { bytes: bytesOf(sliceText(answer, comma + 1)), size };
  }

  /** Yields the items of a list in a kept result, reading one at a time. The names are the path to the list. */
  function* items(path: string, names: readonly string[]): Generator {
    /** One character per byte: the structural characters of JSON are ASCII. */
    let piece = "";
    /** The start of the value that is being read, and the next byte. */
    let start = 0;
    let at = 0;
    let offset = 0;
    /** The next byte as a character; empty at the end. */
    const next = (): string => {
      if (at >= piece.length) {
        const answer = ask("readKept", path, offset, max(CHUNK_BYTES, at - start));
        const more = sliceText(answer, indexOfText(answer, ",", 0) + 1);
        if (more === "") return "";
        piece = sliceText(piece, start) + more;
        offset += more.length;
        at -= start;
        start = 0;
      }
      return piece[at] as string;
    };
    const passSpace = (): void => {
      while (next() === " " || next() === "\n" || next() === "\r" || next() === "\t") at += 1;
      start = at;
    };
    /** Consumes this character if it comes next. Returns whether it did. */
    const takes = (character: string): boolean => {
      passSpace();
      if (next() !== character) return false;
      at += 1;
      return true;
    };
    const passText = (): void => {
      for (at += 1; next() !== '"' && next() !== ""; at += 1) if (next() === "\\") at += 1;
    };
    const passValue = (): void => {
      passSpace();
      for (let depth = 0; next() !== ""; at += 1) {
        const character = next();
        const isEnd = character === "]" || character === "}";
        if (depth === 0 && (isEnd || character === "," || character === ":")) return;
        if (character === '"') passText();
        else if (character === "[" || character === "{") depth += 1;
        else if (isEnd) depth -= 1;
      }
    };
    const readValue = (): unknown => {
      passValue();
      return parseJson(host("decode", sliceText(piece, start, at)) as string);
    };
    const find = (name: string): boolean => {
      if (!takes("{")) return false;
      while (!takes("}")) {
        const key = readValue();
        if (!takes(":")) return false;
        if (key === name) return true;
        passValue();
        takes(",");
      }
      return false;
    };
    let isThere = true;
    for (let index = 0; index < names.length; index += 1) isThere &&= find(names[index] as string);
    if (!isThere || !takes("["))
      throw new constructors.TypeError(
        'items() reads a list. Of an object name its member: items("rows"), items("data", "rows") within another.',
      );
    while (!takes("]")) {
      yield readValue();
      takes(",");
    }
  }

  async function readPage(path: string, offset: number, limit: number): Promise<TextPage> {
    const { bytes, size } = await read(path, offset, max(MIN_PAGE_BYTES, limit));
    // A character cut by the end of the page belongs to the next page.
    let end = bytes.length;
    if (offset + end < size) for (let back = 1; back <= 3; back += 1) if (begins(bytes, back)) end -= back;
    const next = offset + end;
    return {
      text: host("decode", byteText(bytes, end)) as string,
      offset,
      next: next < size && end > 0 ? next : null,
      size,
    };
  }

  /** Whether a character begins this many bytes before the end and is longer. */
  function begins(bytes: Uint8Array, back: number): boolean {
    const byte = bytes[bytes.length - back] ?? 0;
    return byte >= 0xc0 && (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back;
  }

  return {
    /**
     * Adds the methods to every handle in a tool's result. A result that was kept as a whole has its original shape:
     * large parts are read when the program first accesses them.
     */
    revive: (value: unknown): unknown => revive(value, 0),
    /** A result whose large parts were not read yet is returned as its handle. A tool is given the text of a handle. */
    standIn: (value: object, isResult: boolean): unknown => {
      if (isResult) return unread.get(value);
      const text = texts.get(value);
      return text === undefined ? undefined : readWhole(text);
    },
  };
}
