import { changeText, embeddedText, parsedText } from "./embedded-text.ts";
import type { EmbeddedText } from "./embedded-text.ts";

/** How long work goes on before others have the thread, in milliseconds. */
const TURN_MS = 8;

/** Divides long work into turns of the event loop. */
export class Turns {
  #until = performance.now() + TURN_MS;

  /** Resolves when the work may go on. `undefined` while its turn is not over. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#until ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Where there is no such function, as in a browser, timers give others their turn too.
      if (typeof setImmediate === "function") setImmediate(resolve);
      else setTimeout(resolve);
    });
    this.#until = performance.now() + TURN_MS;
  }
}

/** Deeper parts of data are left out, since nothing can be said of them. */
const MAX_DEPTH = 1_000;
const TOO_DEEP = "[left out: nested too deep]";

/** Handlers of the leaves of data. Each gets the key of the leaf; for an item of a list, the list's. */
export interface LeafChanges {
  text(text: string, key: string | undefined, path: readonly string[]): string | number;
  number(value: number, key: string | undefined, path: readonly string[]): string | number;
  /** Changes the name of a property. */
  name(name: string): string;
  /**
   * Changes texts and numbers that stand beside each other, in a list or an object, ahead of each alone.
   *
   * @returns `undefined` where none changes.
   */
  cells?(cells: readonly (string | number)[]): (string | number)[] | undefined | void;
}

/** A longer text is no part of what is split over cells. */
const MAX_CELL_CHARACTERS = 64;

/** Values with those changed that stand beside each other. */
function withCells(values: readonly unknown[], changes: LeafChanges): readonly unknown[] {
  if (changes.cells === undefined || values.length < 2) return values;
  let result: unknown[] | undefined;
  for (let from = 0; from < values.length; from += 1) {
    let to = from;
    while (to < values.length && isCell(values[to])) to += 1;
    if (to - from > 1) {
      const cells = changes.cells(values.slice(from, to) as (string | number)[]);
      if (cells !== undefined) (result ??= values.slice()).splice(from, cells.length, ...cells);
    }
    from = to;
  }
  return result ?? values;
}

function isCell(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && value.length <= MAX_CELL_CHARACTERS);
}

/**
 * Copies data with its leaves changed. Data of which nothing changes is returned as it is, so that what holds nothing
 * costs a look and no copy.
 */
export function mapLeaves(data: unknown, changes: LeafChanges, key?: string, path: string[] = []): unknown {
  switch (typeof data) {
    case "string":
      return changes.text(data, key, path);
    case "number":
      return changes.number(data, key, path);
    case "object":
      if (data === null) return data;
      if (path.length >= MAX_DEPTH) return TOO_DEEP;
      return Array.isArray(data) ? mapItems(data, changes, key, path) : mapProperties(data, changes, path);
    default:
      return data;
  }
}

/** Data of up to so many leaves, or a text of so many characters, is gone through at once. */
const MAX_LEAVES_AT_ONCE = 64;
export const MAX_CHARACTERS_AT_ONCE = 4_096;

/** Changes to the leaves of large data. */
interface LargeLeafChanges extends LeafChanges {
  /** Changes a text that takes long. */
  longText(text: string, key: string | undefined): Promise<string>;
}

/** Does what {@link mapLeaves} does, with turns for others in between. */
export async function mapLeavesInTurns(
  data: unknown,
  changes: LargeLeafChanges,
  turns: Turns,
  key?: string,
  path: string[] = [],
): Promise<unknown> {
  if (typeof data === "string" && data.length > MAX_CHARACTERS_AT_ONCE) return changes.longText(data, key);
  if (isSmall(data) || path.length >= MAX_DEPTH) return mapLeaves(data, changes, key, path);
  const isList = Array.isArray(data);
  const entries: [string, unknown][] = [];
  let isChanged = false;
  const values = withCells(Object.values(data as object), changes);
  for (const [index, [name, given]] of (Object.entries(data as object) as [string, unknown][]).entries()) {
    const value = values[index];
    const pause = turns.next();
    if (pause !== undefined) await pause;
    const nextKey = isList ? key : name;
    path.push(isList ? "*" : name);
    const embedded = isList ? undefined : embeddedText(data as object, name, value);
    // A small part is not awaited: large data has many small parts.
    const changed =
      embedded !== undefined
        ? mapEmbedded(embedded, value, changes, path)
        : isSmall(value)
          ? mapLeaves(value, changes, nextKey, path)
          : await mapLeavesInTurns(value, changes, turns, nextKey, path);
    path.pop();
    const renamed = isList ? name : changes.name(name);
    isChanged ||= changed !== given || renamed !== name;
    entries.push([renamed, changed]);
  }
  if (!isChanged) return data;
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** Whether data has few leaves and little text, or so many times as much. It is not looked at further than that. */
export function isSmall(data: unknown, times = 1): boolean {
  const most = MAX_LEAVES_AT_ONCE * times;
  let [leaves, characters] = [0, 0];
  const pending: unknown[] = [data];
  while (pending.length > 0) {
    const one = pending.pop();
    leaves += 1;
    if (typeof one === "string") characters += one.length;
    else if (typeof one === "object" && one !== null && !(one instanceof Uint8Array)) {
      for (const name in one) {
        characters += name.length;
        pending.push((one as Record<string, unknown>)[name]);
        if (pending.length > most) return false;
      }
    }
    if (leaves > most || characters > MAX_CHARACTERS_AT_ONCE * times) return false;
  }
  return true;
}

function mapItems(
  items: readonly unknown[],
  changes: LeafChanges,
  key: string | undefined,
  path: string[],
): unknown {
  let copy: unknown[] | undefined;
  const values = withCells(items, changes);
  for (let index = 0; index < items.length; index += 1) {
    path.push("*");
    const changed = mapLeaves(values[index], changes, key, path);
    path.pop();
    if (changed !== items[index]) (copy ??= items.slice())[index] = changed;
  }
  return copy ?? items;
}

function mapProperties(data: object, changes: LeafChanges, path: string[]): unknown {
  if (data instanceof Uint8Array || data instanceof Date) return data;
  const names = Object.keys(data);
  let entries: [string, unknown][] | undefined;
  const given = Object.values(data);
  const values = withCells(given, changes);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const value = values[index];
    path.push(name);
    const changed = mapProperty(data, name, value, changes, path);
    path.pop();
    const renamed = changes.name(name);
    if (entries === undefined && (changed !== given[index] || renamed !== name)) {
      entries = names.slice(0, index).map((before, at) => [before, given[at]]);
    }
    entries?.push([renamed, changed]);
  }
  // Unlike an assignment this gives `__proto__` no meaning.
  return entries === undefined ? data : Object.fromEntries(entries);
}

function mapProperty(
  holder: object,
  name: string,
  value: unknown,
  changes: LeafChanges,
  path: string[],
): unknown {
  const embedded = embeddedText(holder, name, value);
  return embedded === undefined
    ? mapLeaves(value, changes, name, path)
    : mapEmbedded(embedded, value, changes, path);
}

/** @param value - The base64, which stays as it is written where nothing in it changes. */
function mapEmbedded(embedded: EmbeddedText, value: unknown, changes: LeafChanges, path: string[]): unknown {
  if (embedded === "bytes") return value;
  // A schema says nothing of what the bytes hold.
  const changed = changeText(embedded.text, (data) => mapLeaves(data, changes, undefined, [...path, "*"]));
  return changed === embedded.text ? value : embedded.encode(changed);
}

/** Calls a function with each text in data and the key under which it stands. */
export function visitTexts(
  data: unknown,
  visit: (text: string, key: string | undefined) => void,
  key?: string,
  depth = 0,
): void {
  if (typeof data === "string") return visit(data, key);
  if (typeof data !== "object" || data === null || depth >= MAX_DEPTH) return;
  if (Array.isArray(data)) for (const item of data) visitTexts(item, visit, key, depth + 1);
  else {
    for (const name in data) {
      const value = (data as Record<string, unknown>)[name];
      const embedded = embeddedText(data, name, value);
      if (embedded === undefined) visitTexts(value, visit, name, depth + 1);
      else if (embedded !== "bytes") visitTexts(parsedText(embedded.text), visit, undefined, depth + 1);
    }
  }
}
