import { deno, type GuestFile } from "./deno.ts";
import { toHostPath } from "./paths.ts";
import { ByteArray, subarray } from "./primordials.ts";

/** Taken with real paths, before functions that take paths are patched. */
const open = deno.open.bind(deno);
const readTextFile = deno.readTextFileSync.bind(deno);
const { max, min } = Math;

/**
 * Reads bytes of a file in which the host keeps a result.
 *
 * @returns the bytes, and the size of the whole in bytes.
 */
export async function readKept(
  path: string,
  offset: number,
  limit: number,
): Promise<{ bytes: Uint8Array; size: number }> {
  const file = await open(toHostPath(path));
  try {
    const { size } = await file.stat();
    const bytes = new ByteArray(max(0, min(limit, size - offset)));
    if (offset > 0) await file.seek(offset, 0);
    return { bytes: subarray(bytes, 0, await fill(file, bytes)), size };
  } finally {
    file.close();
  }
}

/** Reads a file in which the host keeps a result, at once. */
export function readKeptNow(path: string): string {
  return readTextFile(toHostPath(path));
}

/** Reads until the buffer is full or the file ends. */
async function fill(file: GuestFile, bytes: Uint8Array): Promise<number> {
  let read = 0;
  while (read < bytes.length) {
    const count = await file.read(subarray(bytes, read));
    if (count === null || count === 0) break;
    read += count;
  }
  return read;
}
