export function isSameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right) || canonicalJson(left) === canonicalJson(right);
}

/** Serializes a value as JSON with sorted keys and without spaces. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  // Concatenated for speed: reading a large catalog the first time serializes tens of thousands of definitions.
  let text = "";
  if (Array.isArray(value)) {
    for (const member of value) text += `,${canonicalJson(member)}`;
    return `[${text.slice(1)}]`;
  }
  // Sorted by code units. An object with sorted keys would not do: it puts integer keys first.
  for (const key of Object.keys(value).toSorted()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `,${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text.slice(1)}}`;
}

/** Serializes a value as JSON; `undefined` when it is longer than the limit or nested too deeply. */
export function compactJson(value: unknown, maxCharacters = Infinity): string | undefined {
  try {
    const json = JSON.stringify(value) ?? "null";
    return json.length > maxCharacters ? undefined : json;
  } catch {
    return undefined;
  }
}
