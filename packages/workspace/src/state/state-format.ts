import { CemError, type JsonValue } from "@cem/core";

/** Formats of state files. `binary` is MessagePack. */
export const STATE_FORMATS = ["json", "yaml", "binary"] as const;

/** One of {@link STATE_FORMATS}. */
export type StateFormat = (typeof STATE_FORMATS)[number];

export type ParsedState = { ok: true; value: JsonValue } | { ok: false; reason: string };

const MIB = 1024 * 1024;
const INDENT = 2;
const MAX_INDENTED_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 1_000;
/** File extensions by format; the first is used for new files. */
const ENDINGS: Readonly<Record<StateFormat, readonly string[]>> = {
  json: [".json"],
  yaml: [".yaml", ".yml"],
  binary: [".msgpack"],
};
const PICKLE_ENDINGS = [".pickle", ".pkl"];
/** Maximum file size by format, in bytes. Parsing YAML takes a hundred times as long as JSON. */
const MAX_BYTES: Readonly<Record<StateFormat, number>> = { json: Infinity, yaml: 4 * MIB, binary: Infinity };
/** First byte of Python's pickle protocols 2 to 5. In MessagePack it is an empty map, which would end the file. */
const PICKLE_MARK = 0x80;

export const STATE_ENDINGS: readonly string[] = Object.values(ENDINGS).flat();

/** The format of a file by its extension; `undefined` for other files. */
export function formatOf(name: string): StateFormat | undefined {
  return STATE_FORMATS.find((format) => ENDINGS[format].some((ending) => name.endsWith(ending)));
}

/** The name of a state file in another format: `state.json` as `state.yaml`. */
export function nameInFormat(name: string, format: StateFormat): string {
  const known = [...STATE_ENDINGS, ...PICKLE_ENDINGS].find((ending) => name.endsWith(ending)) ?? "";
  if (known !== "" && formatOf(name) === format) return name;
  return name.slice(0, name.length - known.length) + ENDINGS[format][0];
}

/** The names under which the Python original may have pickled the same state. */
export function pickleNames(name: string): string[] {
  return PICKLE_ENDINGS.map((ending) => nameInFormat(name, "json").replace(/\.json$/, ending));
}

/** The maximum size of a file, in bytes. */
export function largestOf(format: StateFormat, maxBytes: number): number {
  return Math.min(maxBytes, MAX_BYTES[format]);
}

/** Encodes state. @throws CemError `STATE_UNREADABLE` for a value that could not be parsed again. */
export async function encodeState(given: JsonValue, format: StateFormat): Promise<Uint8Array> {
  // YAML and MessagePack can serialize values that don't round-trip, such as NaN and dates. These are converted to JSON first.
  const isJson = format === "json" || jsonProblem(given) === undefined;
  const value = isJson ? given : (JSON.parse(jsonOf(given)) as JsonValue);
  switch (format) {
    case "json":
      return Buffer.from(`${jsonOf(value)}\n`);
    case "yaml": {
      const { stringify } = await import("yaml");
      try {
        return Buffer.from(stringify(value, { aliasDuplicateObjects: false }));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw unsaved("YAML", "it is nested too deeply", "Save to a .json file");
      }
    }
    case "binary": {
      const { encode } = await import("@msgpack/msgpack");
      const bytes = encode(value, { maxDepth: MAX_DEPTH, ignoreUndefined: true });
      if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("__proto__")) return bytes;
      const parsed = await parseState(bytes, "binary");
      if (parsed.ok) return bytes;
      const reason = `it could not be read again: ${parsed.reason}`;
      throw unsaved("MessagePack", reason, "Name the key otherwise, or save to a .json file");
    }
  }
}

function unsaved(format: string, reason: string, wayOut: string): CemError {
  const message = `The state can't be saved as ${format}, since ${reason}. ${wayOut}.`;
  return new CemError("STATE_UNREADABLE", message, { details: { reason } });
}

/** A large file is not pretty-printed, since half of it would be indentation. */
function jsonOf(value: JsonValue): string {
  let compact: string | undefined;
  let reason = `it is not JSON, but ${typeof value}`;
  try {
    compact = JSON.stringify(value) as string | undefined;
  } catch (error) {
    [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  }
  if (compact === undefined) throw unsaved("JSON", reason, "Save what JSON can hold");
  return compact.length > MAX_INDENTED_CHARACTERS ? compact : JSON.stringify(value, undefined, INDENT);
}

/** Parses a state file's bytes, which may be hostile. Never throws. */
export async function parseState(bytes: Uint8Array, format: StateFormat): Promise<ParsedState> {
  try {
    const value: unknown = await decode(bytes, format);
    const problem = format === "json" ? undefined : jsonProblem(value);
    return problem === undefined ? { ok: true, value: value as JsonValue } : { ok: false, reason: problem };
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { ok: false, reason };
  }
}

export function isPickle(bytes: Uint8Array): boolean {
  const [mark, protocol = 0] = bytes;
  return mark === PICKLE_MARK && protocol >= 2 && protocol <= 5 && bytes.at(-1) === ".".charCodeAt(0);
}

async function decode(bytes: Uint8Array, format: StateFormat): Promise<unknown> {
  const text = () => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  switch (format) {
    case "json":
      return JSON.parse(text());
    case "yaml": {
      const { parse } = await import("yaml");
      // Detecting duplicate keys takes quadratic time.
      const options = {
        uniqueKeys: false,
        maxAliasCount: 0,
        logLevel: "error",
        prettyErrors: false,
      } as const;
      return parse(text(), { schema: "core", ...options });
    }
    case "binary": {
      const { decode: decodeBinary } = await import("@msgpack/msgpack");
      // A header may claim more than the actual data.
      const most = bytes.byteLength;
      const limits = {
        maxStrLength: most,
        maxArrayLength: most,
        maxMapLength: most,
        maxBinLength: 0,
        maxExtLength: 0,
      };
      return decodeBinary(bytes, limits);
    }
  }
}

/** Why a decoded value is not JSON. */
function jsonProblem(root: unknown): string | undefined {
  const pending: [value: unknown, depth: number][] = [[root, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next;
    if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
    if (value === null || typeof value === "string" || typeof value === "boolean") continue;
    if (typeof value === "number") {
      if (Number.isFinite(value)) continue;
      return `it holds ${value}, which JSON has not`;
    }
    if (typeof value !== "object") return `it holds a ${typeof value}, which JSON has not`;
    const isData = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    if (!isData) return "it holds something that JSON has not";
    for (const member of Object.values(value)) pending.push([member, depth + 1]);
  }
  return undefined;
}
