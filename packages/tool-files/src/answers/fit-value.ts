import { setImmediate as nextTurn } from "node:timers/promises";
import { isObject, type JsonValue, type ResultHandle, type ResultStore } from "@cem/core";

/** A value with longer JSON is stored as a result and replaced by a handle. */
const MAX_VALUE_CHARACTERS = 32 * 1024;
/** A list of rows with longer JSON is stored too: a model needs the first rows and their number. */
const MAX_LIST_CHARACTERS = 6 * 1024;
const MAX_LIST_ITEMS = 20;
/** Number of items shown of a stored list, if their JSON is short. */
const SHOWN_ITEMS = 5;
const SHOWN_CHARACTERS = 1_200;
const PREVIEW_CHARACTERS = 400;
const MAX_NAMED_KEYS = 30;

/** Returns the value, with handles in place of parts that would fill the model's context. */
export async function fitValue(value: JsonValue, results: ResultStore | undefined): Promise<JsonValue> {
  const json = JSON.stringify(value);
  if (json.length <= MAX_LIST_CHARACTERS) return value;
  // Serializing a large value takes as long again.
  await nextTurn();
  if (results === undefined) return json.length <= MAX_VALUE_CHARACTERS ? value : cutNotice(json);
  if (isLongList(value)) return keepList(value, results);
  const fitted = isObject<JsonValue>(value) ? await keepListsIn(value, results) : value;
  if (JSON.stringify(fitted).length <= MAX_VALUE_CHARACTERS) return fitted;
  return keep(value, results);
}

function isLongList(value: JsonValue): value is JsonValue[] {
  if (!Array.isArray(value) || value.length <= MAX_LIST_ITEMS) return false;
  return JSON.stringify(value).length > MAX_LIST_CHARACTERS;
}

async function keepListsIn(value: { [key: string]: JsonValue }, results: ResultStore) {
  const kept = Object.entries(value).map(
    async ([key, member]) => [key, isLongList(member) ? await keepList(member, results) : member] as const,
  );
  return Object.fromEntries(await Promise.all(kept));
}

function keepList(list: readonly JsonValue[], results: ResultStore): Promise<JsonValue> {
  const first: JsonValue[] = [];
  let characters = 0;
  for (const item of list.slice(0, SHOWN_ITEMS)) {
    characters += JSON.stringify(item).length;
    if (characters > SHOWN_CHARACTERS) break;
    first.push(item);
  }
  return keep(list as JsonValue[], results, first.length > 0 ? { items: list.length, first } : undefined);
}

/** Stores a value; resolves with its handle, the code that reads it, and a part: its shape and beginning by default. */
async function keep(value: JsonValue, results: ResultStore, shown?: { [name: string]: JsonValue }) {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  const mimeType = isText ? "text/plain" : "application/json";
  const { path, size } = await results.write(
    Buffer.from(text),
    mimeType,
    isText ? "value.txt" : "value.json",
  );
  const handle: ResultHandle = { type: isText ? "text" : "json", mimeType, size, path };
  const about = shown ?? { ...shapeOf(value), preview: text.slice(0, PREVIEW_CHARACTERS) };
  const read = `await Deno.readTextFile(${JSON.stringify(path)})`;
  return { ...handle, ...about, read: `const value = ${isText ? read : `JSON.parse(${read})`};` };
}

/** Describes the size and structure of a stored value, as far as a program needs it to read a part. */
function shapeOf(value: JsonValue): { [name: string]: JsonValue } {
  if (typeof value === "string") return { characters: value.length };
  if (Array.isArray(value)) {
    const [first] = value;
    return { items: value.length, ...(isObject<JsonValue>(first) ? { item_keys: keysOf(first) } : {}) };
  }
  return isObject<JsonValue>(value) ? { keys: keysOf(value) } : {};
}

function keysOf(value: object): string[] {
  const keys = Object.keys(value);
  const left = keys.length - MAX_NAMED_KEYS;
  return left > 0 ? [...keys.slice(0, MAX_NAMED_KEYS), `… and ${left} more`] : keys;
}

function cutNotice(json: string): string {
  return `${json.slice(0, MAX_VALUE_CHARACTERS)}\n[cut: the value has ${json.length} characters of JSON, ${MAX_VALUE_CHARACTERS} are shown. Return less, or write it to a file in /workspace and return the part that matters.]`;
}
