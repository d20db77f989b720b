import { isResultHandle, type JsonValue, type ResultHandle, type ResultStore } from "@cem/core";

export const MAX_ATTACHMENT_BYTES = 1024 * 1024;
const MAX_ATTACHMENTS_BYTES = 4 * 1024 * 1024;
const MAX_ATTACHMENTS = 8;

/** An image, a sound or a file that a value refers to by its handle. */
export interface Attachment {
  type: "image" | "audio" | "resource";
  mimeType: string;
  bytes: Uint8Array;
  /** The URI that the tool's server gave the bytes, else that of the file in the sandbox. */
  uri: string;
}

const MAX_HANDLE_DEPTH = 32;
const MAX_VISITED = 10_000;

/** Reads the images, sounds and files whose handles a value holds. `leftOut` are those beyond the limits. */
export async function attachmentsOf(value: JsonValue, results: ResultStore) {
  const attachments: Attachment[] = [];
  let bytes = 0;
  let leftOut = 0;
  for (const handle of handlesIn(value)) {
    const { size } = handle;
    const isBeyond = attachments.length >= MAX_ATTACHMENTS || bytes + size > MAX_ATTACHMENTS_BYTES;
    if (isBeyond || size > MAX_ATTACHMENT_BYTES) {
      leftOut += 1;
      continue;
    }
    // Guest code can forge a handle; a handle unknown to the store is plain data.
    const page = await results.read(handle.path, { limit: MAX_ATTACHMENT_BYTES }).catch(() => undefined);
    if (page === undefined || page.size > MAX_ATTACHMENT_BYTES) continue;
    if (bytes + page.size > MAX_ATTACHMENTS_BYTES) continue;
    bytes += page.size;
    const { type, mimeType, uri = `file://${handle.path}` } = handle;
    attachments.push({ type, mimeType, bytes: page.bytes, uri });
  }
  return { attachments, leftOut };
}

/** Handles of images, sounds and files, in the order in which the value holds them. */
function* handlesIn(value: JsonValue): Generator<ResultHandle & Pick<Attachment, "type">> {
  const seen = new Set<string>();
  const open: { value: JsonValue; depth: number }[] = [{ value, depth: 0 }];
  for (let visited = 0; visited < MAX_VISITED; visited += 1) {
    const next = open.pop();
    if (next === undefined) return;
    if (typeof next.value !== "object" || next.value === null) continue;
    if (isResultHandle(next.value)) {
      const { type, path } = next.value;
      if (type === "text" || type === "json" || seen.has(path)) continue;
      seen.add(path);
      yield { ...next.value, type };
    } else if (next.depth < MAX_HANDLE_DEPTH) {
      const children = Object.values(next.value).toReversed();
      for (const child of children) open.push({ value: child, depth: next.depth + 1 });
    }
  }
}

/** Shorter text may be a key or a digest, and costs a model little. */
const MIN_CHARACTERS = 1_024;
/** A single word with upper case, lower case and digits, as in base64 but not in prose. */
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

/** Stores the base64 texts in a value as bytes and replaces them by handles: models can't read base64. */
export async function keepBase64(value: JsonValue, results: ResultStore | undefined): Promise<JsonValue> {
  const texts = new Set<string>();
  const pending = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string" && next.length >= MIN_CHARACTERS) texts.add(next);
    else if (typeof next === "object" && next !== null)
      for (const member of Object.values(next)) pending.push(member);
  }
  // Most values contain no text of that length and are not copied.
  if (texts.size === 0) return value;
  const kept = new Map<unknown, JsonValue>();
  for (const text of texts) kept.set(text, await keepText(text, results));
  const json = JSON.stringify(value, (_key, member: unknown) => kept.get(member) ?? member);
  return JSON.parse(json) as JsonValue;
}

async function keepText(text: string, results: ResultStore | undefined): Promise<JsonValue> {
  const { data, mimeType: stated } = BASE64.exec(text)?.groups ?? {};
  if (data === undefined) return text;
  if (results === undefined) return `[base64: ${text.length} characters]`;
  const bytes = Buffer.from(data, "base64");
  const start = bytes.subarray(0, 16).toString("latin1");
  const known = BEGINNINGS.find(([beginning]) => start.startsWith(beginning))?.[1];
  const mimeType = stated ?? known ?? "application/octet-stream";
  const { path, size } = await results.write(bytes, mimeType, `value.${mimeType.split(/[/+]/u)[1] ?? "bin"}`);
  const type = mimeType.startsWith("image/") ? "image" : "resource";
  const handle: ResultHandle = { type, mimeType, size, path };
  return { ...handle, was: `${text.length} characters of base64` };
}
