import type { JsonValue } from "@cem/core";

/** The most characters that are looked at. */
const MAX_CHARACTERS = 256 * 1024;
/** A text without these gives no orders to a model. Most results have none. */
const MAY_ORDER =
  /\b(?:ignore|disregard|forget|override|bypass|instructions?|system|prompt|tool|user|secretly|silently|send|upload|forward|curl|wget)\b|<\|?\/?\s*(?:im_|important|secret)|\[\/?INST\]|[\u{E0000}-\u{E007F}]/iu;

/** Finds texts that give orders to a model: the names of the rules that found one. */
export type FindOrders = (text: string) => readonly string[] | Promise<readonly string[]>;

/** The rules that find an order in what a run gives back: its value, at any depth, and its output. */
export async function inspectOutput(
  find: FindOrders,
  value: JsonValue | undefined,
  output: string,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const text of textsOf(value, output)) {
    if (!MAY_ORDER.test(text)) continue;
    for (const rule of await find(text)) found.add(rule);
  }
  return [...found];
}

function* textsOf(value: JsonValue | undefined, output: string): Generator<string> {
  yield output.slice(0, MAX_CHARACTERS);
  let left = MAX_CHARACTERS;
  const pending: unknown[] = [value];
  while (pending.length > 0 && left > 0) {
    const at = pending.pop();
    if (typeof at === "string") {
      yield at.slice(0, left);
      left -= at.length;
    } else if (typeof at === "object" && at !== null) {
      left -= 2;
      // Of a long list, what is beyond the limit is not looked at anyway.
      if (Array.isArray(at)) for (const item of at.slice(-left)) pending.push(item);
      else for (const [key, entry] of Object.entries(at)) pending.push(key, entry);
    }
  }
}
