import { isResultHandle } from "@cem/core";
import type { JsonObject, JsonValue, ResultStore } from "@cem/core";

/** Larger files are not recorded, and their handles point to no file in a replay. In bytes. */
const MAX_RECORDED_FILE_BYTES = 64 * 1024 * 1024;

/** A stored file that a handle in a recorded result points to. */
export interface RecordedFile {
  /** The path of the handle. */
  path: string;
  mimeType: string;
  /** The content as base64. */
  data: string;
}

/** Reads the files that the handles in a result point to. */
export async function readKeptFiles(value: JsonValue, store: ResultStore): Promise<RecordedFile[]> {
  const files: RecordedFile[] = [];
  for (const { path, mimeType, size } of handlesIn(value)) {
    if (size > MAX_RECORDED_FILE_BYTES) continue;
    // A result may have the shape of a handle without being one.
    const page = await store.read(path, { limit: size }).catch(() => undefined);
    if (page !== undefined) files.push({ path, mimeType, data: Buffer.from(page.bytes).toString("base64") });
  }
  return files;
}

/** Stores recorded files again and replaces the paths in the value, which is changed, by the new ones. */
export async function restoreKeptFiles(
  value: JsonValue,
  files: readonly RecordedFile[],
  store: ResultStore,
): Promise<JsonValue> {
  for (const { path, mimeType, data } of files) {
    const name = path.split("/").at(-1) ?? "result";
    const kept = await store.write(Buffer.from(data, "base64"), mimeType, name.replace(/^[0-9a-f]+-/, ""));
    for (const handle of handlesIn(value)) if (handle.path === path) handle["path"] = kept.path;
  }
  return value;
}

function handlesIn(value: JsonValue): (JsonObject & { path: string; mimeType: string; size: number })[] {
  if (typeof value !== "object" || value === null) return [];
  if (isResultHandle(value)) return [value];
  return Object.values(value).flatMap(handlesIn);
}
