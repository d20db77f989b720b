import { isResultHandle } from "@cem/core";
import type { JsonValue, ResultHandle, ResultStore } from "@cem/core";
import type { ContentBlock } from "@modelcontextprotocol/server";
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_ATTACHMENTS_BYTES } from "./limits.ts";

const MAX_DEPTH = 32;
const MAX_VISITED = 10_000;

/**
 * Reads the images, sounds and files whose handles a value holds, as MCP content. Those beyond the limits, and text,
 * remain handles in the value, for `read_result`.
 */
export async function attachmentsOf(value: JsonValue, results: ResultStore): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  let bytes = 0;
  for (const handle of handlesIn(value)) {
    if (blocks.length >= MAX_ATTACHMENTS) break;
    const { size } = handle;
    if (size > MAX_ATTACHMENT_BYTES || bytes + size > MAX_ATTACHMENTS_BYTES) continue;
    // Guest code can forge a handle; one that the store does not know is plain data.
    const page = await results.read(handle.path, { limit: MAX_ATTACHMENT_BYTES }).catch(() => undefined);
    if (page === undefined || page.size > MAX_ATTACHMENT_BYTES) continue;
    if (bytes + page.size > MAX_ATTACHMENTS_BYTES) continue;
    bytes += page.size;
    blocks.push(blockOf(handle.type, handle.mimeType, page.bytes, handle.uri ?? `file://${handle.path}`));
  }
  return blocks;
}

/** Bytes as MCP content: an image, a sound, or an embedded resource. */
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

/** Handles of images, sounds and files, in the order in which the value holds them. */
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
