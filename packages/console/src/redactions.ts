/** A token that stands in the place of a value of a person or of a secret. */
const TOKEN =
  /\[\[([A-Z][A-Z\d_]{0,31}):[a-z2-7]{16}\]\]|(user)\.[a-z2-7]{16}@redacted\.invalid|(https):\/\/redacted\.invalid\/[a-z2-7]{16}/g;

/** Counts the different values of each type that tokens stand for. */
export function countRedactions(data: unknown): { type: string; values: number }[] {
  const tokens = new Map<string, string>();
  for (const [token, type, email] of (JSON.stringify(data) ?? "").matchAll(TOKEN))
    tokens.set(token, type ?? (email === undefined ? "URL" : "EMAIL"));
  const byType = Map.groupBy(tokens.values(), (type) => type);
  return [...byType]
    .map(([type, all]) => ({ type, values: all.length }))
    .toSorted((one, other) => one.type.localeCompare(other.type));
}
