import { isObject } from "@cem/core";
import { isTellingKey } from "./detect.ts";
import { embeddedText, membersOf, type EmbeddedText } from "./embedded-data.ts";

/** How long work runs before it yields, in milliseconds. */
const TURN_MS = 8;

/** Divides long work into event loop turns. */
export class Turns {
  #until = performance.now() + TURN_MS;

  /** Resolves when the work may continue. `undefined` while its turn is not over. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#until ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Without `setImmediate`, as in a browser, timers are used.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve);
    });
    this.#until = performance.now() + TURN_MS;
  }
}

/** Deeper parts of data are left out, since they are not inspected. */
const MAX_DEPTH = 1_000;
const TOO_DEEP = "[left out: nested too deep]";

/** Handlers of the leaves of data. Each gets the key of the leaf; for an item of a list, the list's. */
export interface LeafChanges {
  text(text: string, key: string | undefined): string;
  number(value: number, key: string | undefined): string | number;
  /** Changes the name of a property. */
  name(name: string): string;
  /**
   * Changes adjacent texts and numbers in a list or an object that did not change individually.
   *
   * @returns `undefined` if none changes.
   */
  cells?(cells: readonly (string | number)[]): (string | number)[] | undefined | void;
}

/** Longer texts are not considered parts of a value split over cells. */
const MAX_CELL_CHARACTERS = 64;

/** Changes adjacent values that did not change individually. */
function changeCells(given: readonly unknown[], values: readonly unknown[], changes: LeafChanges): unknown[] {
  let changed: unknown[] | undefined;
  for (let from = 0; from < values.length - 1; from += 1) {
    let to = from;
    while (to < values.length && values[to] === given[to] && isCell(values[to])) to += 1;
    const cells = to - from > 1 ? changes.cells?.(values.slice(from, to) as (string | number)[]) : undefined;
    if (cells !== undefined) (changed ??= values.slice()).splice(from, cells.length, ...cells);
    from = to;
  }
  return changed ?? (values as unknown[]);
}

function isCell(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && value.length <= MAX_CELL_CHARACTERS);
}

/** The key of data; for table rows, the column names. */
type Key = string | readonly string[] | undefined;

/** The key of an item: that of its list, or its column name. Column names themselves have none. */
function keyOfItem(item: unknown, at: number, key: Key): Key {
  if (item === key) return undefined;
  return typeof key !== "object" || Array.isArray(item) ? key : key[at];
}

/** The key of a list's items: for rows below a row of names, these names. */
function keyOfItems(items: readonly unknown[], key: Key): Key {
  const [heading, row] = items;
  const isTable =
    Array.isArray(heading) && heading.length > 1 && Array.isArray(row) && row.length === heading.length;
  return isTable && tells(heading) ? heading : key;
}

/** Whether all items are names, of which at least one is telling. */
function tells(heading: readonly unknown[]): heading is readonly string[] {
  return heading.every((one) => typeof one === "string") && heading.some(isTellingKey);
}

/** Members of a JSON Schema that contain values. */
const OF_SCHEMAS: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example"]);

/**
 * The key of a member: its name; for `value`, the name next to it; for table rows, the column names; for values in a
 * schema, the name of the described property.
 *
 * @param outer - The key of the data itself.
 */
function keyOfMember(data: object, own: string, value: unknown, outer: Key): Key {
  if (typeof outer === "string" && OF_SCHEMAS.has(own) && isTellingKey(outer)) return outer;
  if (own !== "value" && !(Array.isArray(value) && Array.isArray(value[0]))) return own;
  const { name, key = name, columns, headers, fields } = data as Record<string, unknown>;
  if (own === "value" && typeof key === "string") return isTellingKey(key) ? key : own;
  const heading = columns ?? headers ?? fields;
  if (!Array.isArray(heading)) return own;
  const names = heading.map((column) => (column as { name?: unknown } | null)?.name ?? column);
  return tells(names) ? names : own;
}

/**
 * Copies data with its leaves changed. Unchanged data is returned as is, without a copy. For an object with `toJSON`, its
 * JSON form is walked. Objects without a JSON form, such as a `Map`, are kept.
 */
export function mapLeaves(data: unknown, changes: LeafChanges, key?: Key, depth = 0): unknown {
  switch (typeof data) {
    case "string":
      return changes.text(data, key as string | undefined);
    case "number":
      return changes.number(data, key as string | undefined);
    case "object":
      if (data === null) return data;
      if (depth >= MAX_DEPTH) return TOO_DEEP;
      return Array.isArray(data) ? mapItems(data, changes, key, depth) : mapObject(data, changes, key, depth);
    default:
      return data;
  }
}

/** Data with up to this many leaves, or a text of up to this many characters, is processed without yielding. */
const MAX_LEAVES_AT_ONCE = 64;
export const MAX_CHARACTERS_AT_ONCE = 4_096;

/** Changes to the leaves of large data. */
export interface LargeLeafChanges extends LeafChanges {
  /** Changes a text that takes long to process. */
  longText(text: string, key: string | undefined): Promise<string>;
}

/** Like {@link mapLeaves}, but yields to the event loop in between. */
export async function mapLeavesInTurns(
  data: unknown,
  changes: LargeLeafChanges,
  turns: Turns,
  key?: Key,
  depth = 0,
): Promise<unknown> {
  if (typeof data === "string" && data.length > MAX_CHARACTERS_AT_ONCE)
    return changes.longText(data, key as string | undefined);
  if (asJson(data) !== data || isSmall(data) || depth >= MAX_DEPTH)
    return mapLeaves(data, changes, key, depth);
  const given = Array.isArray(data) ? (data as unknown[]) : Object.values(data as object);
  const names = Array.isArray(data) ? undefined : Object.keys(data as object);
  const keyOfRows = names === undefined ? keyOfItems(given, key) : key;
  let values: unknown[] | undefined;
  for (const [index, value] of given.entries()) {
    const pause = turns.next();
    if (pause !== undefined) await pause;
    const name = names?.[index];
    const embedded = name === undefined ? undefined : embeddedText(data as object, name, value);
    const own =
      name === undefined ? keyOfItem(value, index, keyOfRows) : keyOfMember(data as object, name, value, key);
    // Small parts are processed synchronously, since large data has many of them.
    const changed =
      embedded !== undefined
        ? mapEmbedded(embedded, value, changes, depth)
        : isSmall(value)
          ? mapLeaves(value, changes, own, depth + 1)
          : await mapLeavesInTurns(value, changes, turns, own, depth + 1);
    if (changed !== value) (values ??= given.slice())[index] = changed;
  }
  return rebuilt(data as object, names, given, values ?? given, changes);
}

/** Returns data with changed values and names, or the same object if none changed. */
function rebuilt(
  data: object,
  names: readonly string[] | undefined,
  given: readonly unknown[],
  changedAlone: readonly unknown[],
  changes: LeafChanges,
): unknown {
  const values = changes.cells === undefined ? changedAlone : changeCells(given, changedAlone, changes);
  if (names === undefined) return values === given ? data : values;
  let renamed: string[] | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const changed = changes.name(name);
    // Unlike an assignment, `Object.fromEntries` treats `__proto__` as an ordinary name.
    if (changed !== name || (name === "__proto__" && values !== given))
      (renamed ??= names.slice())[index] = changed;
  }
  if (renamed !== undefined) return Object.fromEntries(renamed.map((name, index) => [name, values[index]]));
  if (values === given) return data;
  const copy: Record<string, unknown> = { ...data };
  for (let index = 0; index < names.length; index += 1)
    if (values[index] !== given[index]) copy[names[index] ?? ""] = values[index];
  return copy;
}

/** Whether data has few leaves and little text. Stops at the limits. */
export function isSmall(
  data: unknown,
  leaves = MAX_LEAVES_AT_ONCE,
  characters = MAX_CHARACTERS_AT_ONCE,
): boolean {
  return sizeLeft(data, { leaves, characters });
}

/** @returns whether data fits into the remaining budget, from which its size is deducted. */
function sizeLeft(data: unknown, left: { leaves: number; characters: number }): boolean {
  left.leaves -= 1;
  if (typeof data === "string") left.characters -= data.length;
  else if (typeof data === "object" && data !== null && !(data instanceof Uint8Array)) {
    if (Array.isArray(data)) return data.length <= left.leaves && data.every((item) => sizeLeft(item, left));
    for (const name in data) {
      left.characters -= name.length;
      if (!sizeLeft((data as Record<string, unknown>)[name], left)) return false;
    }
  }
  return left.leaves >= 0 && left.characters >= 0;
}

function mapItems(items: readonly unknown[], changes: LeafChanges, given: Key, depth: number): unknown {
  const key = keyOfItems(items, given);
  let values: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const changed = mapLeaves(items[index], changes, keyOfItem(items[index], index, key), depth + 1);
    if (changed !== items[index]) (values ??= items.slice())[index] = changed;
  }
  return rebuilt(items, undefined, items, values ?? items, changes);
}

function mapObject(data: object, changes: LeafChanges, key: Key, depth: number): unknown {
  if (data instanceof Uint8Array || data instanceof Date) return data;
  const json = asJson(data);
  const changed = isObject(json)
    ? mapProperties(json, changes, key, depth)
    : mapLeaves(json, changes, key, depth + 1);
  return changed === json ? data : changed;
}

/** The JSON form of an object with a `toJSON` method. */
function asJson(data: unknown): unknown {
  const { toJSON } = (data ?? {}) as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(data, "") : data;
}

function mapProperties(data: object, changes: LeafChanges, key: Key, depth: number): unknown {
  const names = Object.keys(data);
  const given = Object.values(data) as unknown[];
  let values: unknown[] | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const value = given[index];
    const embedded = embeddedText(data, name, value);
    const changed =
      embedded === undefined
        ? mapLeaves(value, changes, keyOfMember(data, name, value, key), depth + 1)
        : mapEmbedded(embedded, value, changes, depth);
    if (changed !== value) (values ??= given.slice())[index] = changed;
  }
  return rebuilt(data, names, given, values ?? given, changes);
}

/** @param value - The base64, which is kept if nothing in it changes. */
function mapEmbedded(embedded: EmbeddedText, value: unknown, changes: LeafChanges, depth: number): unknown {
  if (embedded === "bytes") return value;
  const { data, write } = membersOf(embedded.text);
  const changed = write(mapLeaves(data, changes, undefined, depth + 2));
  return changed === embedded.text ? value : embedded.encode(changed);
}

/** Calls a function with each text in data and its key. */
export function visitTexts(data: unknown, visit: (text: string, key: string | undefined) => void): void {
  mapLeaves(data, {
    text: (text, key) => (visit(text, key), text),
    number: (value) => value,
    name: (name) => name,
  });
}
