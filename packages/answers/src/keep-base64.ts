import type { JsonValue, ResultHandle, ResultStore } from "@cem/core";

/** Shorter text may be a key or a digest, and costs a model little. */
const MIN_CHARACTERS = 1_024;
const MAX_DEPTH = 64;
/** Text of one word in upper and lower case with digits, as base64 is and words are not. */
const BASE64 =
  /^(?:data:(?<mimeType>[\w.+/-]{1,100})[^,]{0,100};base64,)?(?<data>(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])(?=[\w+/-]*\d)[\w+/-]+={0,2})$/u;
/** How files of a type begin, in Latin-1. */
const BEGINNINGS: readonly [beginning: string, mimeType: string][] = [
  ["\u0089PNG\r\n", "image/png"],
  ["\u00ff\u00d8\u00ff", "image/jpeg"],
  ["GIF8", "image/gif"],
  ["%PDF-", "application/pdf"],
  ["PK\u0003\u0004", "application/zip"],
  ["\u001f\u008b", "application/gzip"],
];

/** Keeps what a value holds as base64 as bytes, and puts their handles in its place: no model reads base64. */
export async function keepBase64(value: JsonValue, results: ResultStore | undefined): Promise<JsonValue> {
  // Most values hold no text of that length, and are not copied.
  return holdsLongText(value) ? keepIn(value, results, 0) : value;
}

function holdsLongText(value: JsonValue): boolean {
  const pending = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string" && next.length >= MIN_CHARACTERS) return true;
    if (typeof next === "object" && next !== null)
      for (const member of Object.values(next)) pending.push(member);
  }
  return false;
}

async function keepIn(value: JsonValue, results: ResultStore | undefined, depth: number): Promise<JsonValue> {
  if (typeof value === "string") return value.length < MIN_CHARACTERS ? value : keepText(value, results);
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) items.push(await keepIn(item, results, depth + 1));
    return items;
  }
  const members: [string, JsonValue][] = [];
  for (const [key, member] of Object.entries(value))
    members.push([key, await keepIn(member, results, depth + 1)]);
  return Object.fromEntries(members);
}

async function keepText(text: string, results: ResultStore | undefined): Promise<JsonValue> {
  const { data, mimeType: stated } = BASE64.exec(text)?.groups ?? {};
  if (data === undefined) return text;
  if (results === undefined) return `[base64: ${text.length} characters]`;
  const bytes = Buffer.from(data, "base64");
  const mimeType = stated ?? mimeTypeOf(bytes);
  const { path, size } = await results.write(bytes, mimeType, `value.${mimeType.split(/[/+]/u)[1] ?? "bin"}`);
  const type = mimeType.startsWith("image/") ? "image" : "resource";
  const handle: ResultHandle = { type, mimeType, size, path };
  return { ...handle, was: `${text.length} characters of base64` };
}

function mimeTypeOf(bytes: Buffer): string {
  const start = bytes.subarray(0, 16).toString("latin1");
  return BEGINNINGS.find(([beginning]) => start.startsWith(beginning))?.[1] ?? "application/octet-stream";
}
