import { isResultHandle } from "@cem/core";
import type { JsonObject, JsonValue, ResultStore } from "@cem/core";

/** A larger file is not recorded: its handle then leads nowhere when the recording is replayed. */
const MAX_RECORDED_FILE_BYTES = 64 * 1024 * 1024;

/** What a handle of a recorded result stands for. */
export interface RecordedFile {
  path: string;
  mimeType: string;
  /** In base64. */
  data: string;
}

/** Reads what the handles in a result stand for. */
export async function readKeptFiles(value: JsonValue, store: ResultStore): Promise<RecordedFile[]> {
  const files: RecordedFile[] = [];
  for (const { path, mimeType, size } of handlesIn(value)) {
    if (size > MAX_RECORDED_FILE_BYTES) continue;
    // A result may look like a handle and be none.
    const page = await store.read(path, { limit: size }).catch(() => undefined);
    if (page !== undefined) files.push({ path, mimeType, data: Buffer.from(page.bytes).toString("base64") });
  }
  return files;
}

/** Keeps recorded files anew, and gives the value with their new paths. */
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
