import type { JsonValue, RedactionScope, Redactor } from "@cem/core";
import { decodeText, parsedText } from "./embedded-text.ts";

/** Items or members that are looked through at once. */
const MEMBERS_AT_ONCE = 500;
/** Characters of a text without members that are looked through at once. */
const CHARACTERS_AT_ONCE = 256 * 1024;
/** Deeper data is looked through as a whole. */
const MAX_DEPTH = 8;
/** Other work has its turn after so long, in milliseconds. */
const MAX_BUSY_MS = 20;
const KEY_BEGINS = "-----BEGIN ";
const KEY_ENDS = "-----END ";

/**
 * Has what is kept as a file for code pass by the same door as what is returned to code: where code sees tokens only, it has
 * tokens, and where rules depend on origins, its values are known to come from the scope's tool. It is looked through piece
 * by piece, so that other work goes on.
 *
 * @returns the bytes to keep: the same where nothing is replaced, also for bytes that are no text.
 */
export async function redactKept(
  bytes: Uint8Array,
  redactor: Redactor,
  scope: RedactionScope,
): Promise<Uint8Array> {
  const hasTokens = redactor.guest === "tokens";
  if (!hasTokens && (redactor.tracksOrigins !== true || scope.server === undefined)) return bytes;
  const decoded = decodeText(bytes);
  if (decoded === undefined) return bytes;
  const data = parsedText(decoded.text);
  let since = performance.now();
  const change: Change = async (part) => {
    if (performance.now() - since > MAX_BUSY_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
    if (!hasTokens) {
      redactor.observe(part as JsonValue, scope);
      return part;
    }
    await redactor.recognize?.(part, scope);
    return redactor.tokenize(part, scope);
  };
  const changed = await changeInParts(data, change);
  if (changed === data) return bytes;
  return decoded.encode(typeof changed === "string" ? changed : JSON.stringify(changed));
}

type Change = (part: unknown) => Promise<unknown>;

async function changeInParts(data: unknown, change: Change, depth = 0): Promise<unknown> {
  if (typeof data === "string") return changeText(data, change);
  if (!isLong(data, depth)) return change(data);
  return Array.isArray(data) ? changeItems(data, change) : changeMembers(data as object, change, depth);
}

async function changeText(text: string, change: Change): Promise<string> {
  let changed = "";
  for (let from = 0; from < text.length;) {
    const end = endOfPart(text, from);
    changed += await changePart(text.slice(from, end), change);
    from = end;
  }
  return changed;
}

/** Lines of JSON stay lines of JSON: a number becomes a number. */
async function changePart(text: string, change: Change): Promise<string> {
  const lines = text.split("\n");
  const parsed = lines.map(parsedText);
  if (!parsed.some((one) => typeof one !== "string")) return String(await change(text));
  const changed = (await change(parsed)) as unknown[];
  return changed
    .map((one, at) => (one === parsed[at] ? lines[at] : typeof one === "string" ? one : JSON.stringify(one)))
    .join("\n");
}

/** The end of a part: that of a line, and not one within a private key. */
function endOfPart(text: string, from: number): number {
  const limit = from + CHARACTERS_AT_ONCE;
  if (limit >= text.length) return text.length;
  const line = text.indexOf("\n", limit) + 1;
  const end = line === 0 ? text.length : line;
  const key = text.lastIndexOf(KEY_BEGINS, end);
  return key <= from || text.slice(key, end).includes(KEY_ENDS) ? end : key;
}

async function changeItems(items: readonly unknown[], change: Change): Promise<readonly unknown[]> {
  const parts: unknown[] = [];
  let isChanged = false;
  for (let from = 0; from < items.length; from += MEMBERS_AT_ONCE) {
    const part = items.slice(from, from + MEMBERS_AT_ONCE);
    const changed = await change(part);
    parts.push(changed);
    isChanged ||= changed !== part;
  }
  return isChanged ? parts.flat(1) : items;
}

async function changeMembers(data: object, change: Change, depth: number): Promise<object> {
  const entries: [string, unknown][] = [];
  let isChanged = false;
  let short: [string, unknown][] = [];
  const changeShort = async (): Promise<void> => {
    const part = Object.fromEntries(short);
    const changed = (await change(part)) as object;
    entries.push(...Object.entries(changed));
    isChanged ||= changed !== part;
    short = [];
  };
  for (const [name, value] of Object.entries(data)) {
    if (!isLong(value, depth + 1)) {
      if (short.push([name, value]) >= MEMBERS_AT_ONCE) await changeShort();
      continue;
    }
    await changeShort();
    // A part keeps the name that it stands under: names tell what values are.
    let shown = name;
    const changed = await changeInParts(
      value,
      async (part) => {
        const [entry] = Object.entries((await change({ [name]: part })) as object);
        [shown] = entry ?? [name];
        return entry?.[1];
      },
      depth + 1,
    );
    entries.push([shown, changed]);
    isChanged ||= changed !== value || shown !== name;
  }
  await changeShort();
  return isChanged ? Object.fromEntries(entries) : data;
}

/** Whether data is looked through in parts: it has many items or members, or a member that does. */
function isLong(data: unknown, depth: number): boolean {
  if (typeof data !== "object" || data === null) return false;
  if (Array.isArray(data)) return data.length > MEMBERS_AT_ONCE;
  const members = Object.values(data);
  return (
    members.length > MEMBERS_AT_ONCE || (depth < MAX_DEPTH && members.some((one) => isLong(one, depth + 1)))
  );
}
