import { isResultHandle } from "@cem/core";
import type { JsonValue, ResultHandle, ResultStore } from "@cem/core";
import type { ContentBlock } from "@modelcontextprotocol/server";
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_ATTACHMENTS_BYTES } from "./limits.ts";

const MAX_DEPTH = 32;
const MAX_VISITED = 10_000;

/**
 * What a value's handles stand for, as content of its kind: images, sounds and files that a client can show. What
 * is beyond the limits, or is text for `read_result`, stays a handle in the value.
 */
export async function attachmentsOf(value: JsonValue, results: ResultStore): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  let bytes = 0;
  for (const handle of handlesIn(value)) {
    if (blocks.length >= MAX_ATTACHMENTS) break;
    const { size } = handle;
    if (size > MAX_ATTACHMENT_BYTES || bytes + size > MAX_ATTACHMENTS_BYTES) continue;
    // Guest code can write a handle that stands for nothing: it stays what it is, plain data.
    const page = await results.read(handle.path, { limit: MAX_ATTACHMENT_BYTES }).catch(() => undefined);
    if (page === undefined || page.size > MAX_ATTACHMENT_BYTES) continue;
    if (bytes + page.size > MAX_ATTACHMENTS_BYTES) continue;
    bytes += page.size;
    blocks.push(blockOf(handle.type, handle.mimeType, page.bytes, handle.uri ?? `file://${handle.path}`));
  }
  return blocks;
}

/** Bytes as the content that MCP has for them. */
export function blockOf(
  type: ResultHandle["type"],
  mimeType: string,
  bytes: Uint8Array,
  uri: string,
): ContentBlock {
  const data = Buffer.from(bytes).toString("base64");
  if (type === "image" || type === "audio") return { type, mimeType, data };
  return { type: "resource", resource: { uri, mimeType, blob: data } };
}

/** In the order they stand in. */
function* handlesIn(value: JsonValue): Generator<ResultHandle> {
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
      yield next.value;
    } else if (next.depth < MAX_DEPTH) {
      const children = Object.values(next.value).toReversed();
      for (const child of children) open.push({ value: child, depth: next.depth + 1 });
    }
  }
}
