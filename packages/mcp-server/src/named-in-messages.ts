import { isObject } from "./is-object.ts";
import { MAX_NAMED_CHARACTERS } from "./limits.ts";

/** Parts of a request that answers repeat or search for: its id, and parameters that name something. */
const NAMES: readonly (readonly string[])[] = [
  ["id"],
  ["method"],
  ["params", "name"],
  ["params", "uri"],
  ["params", "cursor"],
  ["params", "level"],
  ["params", "protocolVersion"],
  ["params", "requestId"],
  ["params", "progressToken"],
  ["params", "reason"],
  ["params", "_meta", "progressToken"],
  ["params", "clientInfo", "name"],
  ["params", "clientInfo", "version"],
  ["params", "ref", "name"],
  ["params", "ref", "uri"],
  ["params", "argument", "name"],
  ["params", "argument", "value"],
];

/** Says which name in the messages is longer than names are. */
export function tooLongIn(messages: readonly unknown[]): string | undefined {
  for (const message of messages) {
    const path = NAMES.find((names) => lengthAt(message, names) > MAX_NAMED_CHARACTERS);
    if (path === undefined) continue;
    const length = lengthAt(message, path);
    return `${path.join(".")} has ${length} characters, and may have ${MAX_NAMED_CHARACTERS}`;
  }
  return undefined;
}

function lengthAt(message: unknown, path: readonly string[]): number {
  let value = message;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return typeof value === "string" ? value.length : 0;
}
