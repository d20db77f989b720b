import { isResultHandle } from "@cem/core";
import type { JsonValue, ResultHandle, ResultStore } from "@cem/core";
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_ATTACHMENTS_BYTES } from "./limits.ts";

/** An image, a sound or a file that a value refers to by its handle. */
export interface Attachment {
  type: "image" | "audio" | "resource";
  mimeType: string;
  bytes: Uint8Array;
  /** The URI that the tool's server gave the bytes, else that of the file in the sandbox. */
  uri: string;
}

const MAX_DEPTH = 32;
const MAX_VISITED = 10_000;

/**
 * Reads the images, sounds and files whose handles a value holds. Those beyond the limits, and text, remain handles in the
 * value.
 */
export async function attachmentsOf(value: JsonValue, results: ResultStore): Promise<Attachment[]> {
  const attachments: Attachment[] = [];
  let bytes = 0;
  for (const handle of handlesIn(value)) {
    if (attachments.length >= MAX_ATTACHMENTS) break;
    const { size } = handle;
    if (size > MAX_ATTACHMENT_BYTES || bytes + size > MAX_ATTACHMENTS_BYTES) continue;
    // Guest code can forge a handle; one that the store does not know is plain data.
    const page = await results.read(handle.path, { limit: MAX_ATTACHMENT_BYTES }).catch(() => undefined);
    if (page === undefined || page.size > MAX_ATTACHMENT_BYTES) continue;
    if (bytes + page.size > MAX_ATTACHMENTS_BYTES) continue;
    bytes += page.size;
    const { type, mimeType, uri = `file://${handle.path}` } = handle;
    attachments.push({ type, mimeType, bytes: page.bytes, uri });
  }
  return attachments;
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
    } else if (next.depth < MAX_DEPTH) {
      const children = Object.values(next.value).toReversed();
      for (const child of children) open.push({ value: child, depth: next.depth + 1 });
    }
  }
}
