import { isObject } from "@cem/core";

export type SchemaObject = Readonly<Record<string, unknown>>;

declare const WITHOUT_PROTOTYPE: unique symbol;

/** The keywords of a schema, without a prototype: a missing keyword is `undefined`, whatever its name. */
export type Keywords = SchemaObject & { readonly [WITHOUT_PROTOTYPE]: true };

/** Copies the keywords of a schema. Faster than checking for each whether it is an own property. */
export function keywordsOf(schema: SchemaObject): Keywords {
  return { __proto__: null, ...schema } as unknown as Keywords;
}

export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function asEntries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** The value of an own property. Untrusted schemas may use names such as `__proto__` and `constructor`. */
export function own(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/** Keywords that give a schema a name for references, with the prefix of that name in a reference. */
const NAMING_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["$id", ""],
  ["id", ""],
  ["$anchor", "#"],
  ["$dynamicAnchor", "#"],
]);
const REFERENCE_KEYWORDS = ["$ref", "$dynamicRef", "$recursiveRef"];

/** The reference in a schema, by the keyword of any draft. */
export function referenceOf(schema: Keywords): string | undefined {
  return REFERENCE_KEYWORDS.map((keyword) => schema[keyword]).find((value) => typeof value === "string");
}

/** Indexes the names and references of a schema document, which are resolved within the document. */
export function readReferences(root: unknown) {
  const byName = new Map<string, unknown>();
  const references = new Set<string>();
  const seen = new Set<object>(isObject(root) ? [root] : []);
  for (const value of seen) {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === "object" && item !== null) seen.add(item as object);
      continue;
    }
    for (const key of Object.keys(value)) {
      const part = (value as SchemaObject)[key];
      if (typeof part === "object" && part !== null) seen.add(part);
      else if (typeof part === "string" && (key === "id" || key.startsWith("$"))) {
        const prefix = NAMING_KEYWORDS.get(key);
        if (prefix !== undefined && !byName.has(prefix + part)) byName.set(prefix + part, value);
        else if (REFERENCE_KEYWORDS.includes(key)) references.add(part);
      }
    }
  }
  const base =
    typeof own(root, "$id") === "string" ? String(own(root, "$id")).replace(/#.*$/s, "") : undefined;
  const resolve = (reference: string): unknown => {
    if (byName.has(reference)) return byName.get(reference);
    const hash = reference.indexOf("#");
    const document = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = hash === -1 ? "" : reference.slice(hash + 1);
    const start = document === "" || document === base ? root : byName.get(document);
    return start === undefined ? undefined : followPointer(start, fragment);
  };
  const targets = new Set([...references].map(resolve));
  targets.delete(undefined);
  const isTarget = (schema: unknown): boolean => targets.has(schema);
  return { resolve, isTarget };
}

function followPointer(start: unknown, fragment: string): unknown {
  if (fragment === "") return start;
  if (!fragment.startsWith("/")) return undefined;
  let value = start;
  for (const part of decode(fragment).slice(1).split("/")) {
    value = own(value, part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return typeof value === "boolean" || isObject(value) ? value : undefined;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
