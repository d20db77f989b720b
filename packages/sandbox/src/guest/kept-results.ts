import { deno } from "./deno.ts";
import { toHostPath } from "./paths.ts";
import { ByteArray, byteText } from "./primordials.ts";

/** Captured before functions with path parameters are patched: takes real paths. */
const open = deno.openSync.bind(deno);
const { max, min } = Math;

/**
 * Reads bytes of a file in which the host keeps a result. Returns the size of the file, a comma, and a character for
 * each byte.
 */
export function readKept(path: string, offset: number, limit: number): string {
  const file = open(toHostPath(path));
  try {
    const { size } = file.statSync();
    const bytes = new ByteArray(max(0, min(limit, size - offset)));
    if (offset > 0) file.seekSync(offset, 0);
    return `${size},${byteText(bytes, file.readSync(bytes) ?? 0)}`;
  } finally {
    file.close();
  }
}
