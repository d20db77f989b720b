import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject, type JsonValue } from "@cem/core";

/** The merge of two changes of one value, or the conflicting keys. */
export type Merged = { ok: true; value: JsonValue } | { ok: false; keys: string[] };

/** Deeper members are compared as a whole. */
const MAX_DEPTH = 20;
const ABSENT = Symbol("absent");
type Member = JsonValue | typeof ABSENT;

/**
 * Merges two changes of one value, key by key in objects and the objects in them. A key that both changed is a conflict,
 * even if both set it to the same value: each may have incremented what it read.
 */
export function mergeChanges(base: JsonValue, mine: JsonValue, theirs: JsonValue): Merged {
  const keys: string[] = [];
  const value = merge([base, mine, theirs], [], keys);
  return keys.length === 0 && value !== ABSENT ? { ok: true, value } : { ok: false, keys };
}

function merge([base, mine, theirs]: [Member, Member, Member], path: string[], conflicts: string[]): Member {
  if (isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  if (
    !isObject<JsonValue>(base) ||
    !isObject<JsonValue>(mine) ||
    !isObject<JsonValue>(theirs) ||
    path.length >= MAX_DEPTH
  ) {
    conflicts.push(path.join(".") || "the whole state");
    return mine;
  }
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const members: [string, JsonValue][] = [];
  for (const name of names) {
    const member = merge([of(base, name), of(mine, name), of(theirs, name)], [...path, name], conflicts);
    if (member !== ABSENT) members.push([name, member]);
  }
  // Treats "__proto__" like any other name.
  return Object.fromEntries(members);
}

function of(object: JsonObject, name: string): Member {
  return Object.hasOwn(object, name) ? (object[name] as JsonValue) : ABSENT;
}

function isSame(one: Member, other: Member): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  return isDeepStrictEqual(one, other);
}

/** Maximum size of contents kept for merging, in bytes. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Caches contents of state files that a store has read or written, by file and version. The oldest are evicted first. */
export function createKnownStates() {
  const contents = new Map<string, Uint8Array>();
  /** The last version of each file that was readable. */
  const readable = new Map<string, string>();
  let bytes = 0;
  return {
    add(file: string, version: string, content: Uint8Array): void {
      readable.set(file, version);
      const key = `${file} ${version}`;
      if (content.byteLength > MAX_KEPT_BYTES || contents.has(key)) return;
      contents.set(key, content);
      bytes += content.byteLength;
      for (const [oldest, { byteLength }] of contents) {
        if (bytes <= MAX_KEPT_BYTES) return;
        contents.delete(oldest);
        bytes -= byteLength;
      }
    },
    contentOf: (file: string, version: string) => contents.get(`${file} ${version}`),
    /** Whether the file is known to be readable in this version, without parsing it again. */
    isReadable: (file: string, version: string) => readable.get(file) === version,
  };
}
