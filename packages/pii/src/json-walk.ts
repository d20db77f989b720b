/** Deeper parts of data are left out, since nothing can be said of them. */
const MAX_DEPTH = 1_000;
const TOO_DEEP = "[left out: nested too deep]";

/** What happens to the leaves of data. Each gets the key under which the leaf stands; for an item of a list, the list's. */
export interface LeafChanges {
  text(text: string, key: string | undefined, path: readonly string[]): string | number;
  number(value: number, key: string | undefined, path: readonly string[]): string | number;
  /** Changes the name of a property. */
  name(name: string): string;
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

function mapItems(
  items: readonly unknown[],
  changes: LeafChanges,
  key: string | undefined,
  path: string[],
): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    path.push("*");
    const changed = mapLeaves(item, changes, key, path);
    path.pop();
    if (changed !== item) (copy ??= items.slice())[index] = changed;
  }
  return copy ?? items;
}

function mapProperties(data: object, changes: LeafChanges, path: string[]): unknown {
  if (data instanceof Uint8Array || data instanceof Date) return data;
  const names = Object.keys(data);
  let entries: [string, unknown][] | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const value = (data as Record<string, unknown>)[name];
    path.push(name);
    const changed = mapLeaves(value, changes, name, path);
    path.pop();
    const renamed = changes.name(name);
    if (entries === undefined && (changed !== value || renamed !== name)) {
      entries = names.slice(0, index).map((before) => [before, (data as Record<string, unknown>)[before]]);
    }
    entries?.push([renamed, changed]);
  }
  // Unlike an assignment this gives `__proto__` no meaning.
  return entries === undefined ? data : Object.fromEntries(entries);
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
  else for (const name in data) visitTexts((data as Record<string, unknown>)[name], visit, name, depth + 1);
}
