import { deno, type GuestFile } from "./deno.ts";
import { toHostPath } from "./paths.ts";
import { ByteArray, byteText, subarray } from "./primordials.ts";

/** Taken with real paths, before functions that take paths are patched. */
const open = deno.openSync.bind(deno);
const { max, min } = Math;

/** Reads bytes of a file in which the host keeps a result: the size of the whole, a comma, and a character for each byte. */
export function readKept(path: string, offset: number, limit: number): string {
  const file = open(toHostPath(path));
  try {
    const { size } = file.statSync();
    const bytes = new ByteArray(max(0, min(limit, size - offset)));
    if (offset > 0) file.seekSync(offset, 0);
    return `${size},${byteText(bytes, fill(file, bytes))}`;
  } finally {
    file.close();
  }
}

/** Reads until the buffer is full or the file ends. */
function fill(file: GuestFile, bytes: Uint8Array): number {
  let read = 0;
  while (read < bytes.length) {
    const count = file.readSync(subarray(bytes, read));
    if (count === null || count === 0) break;
    read += count;
  }
  return read;
}
