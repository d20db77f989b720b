import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { ContainedFolder } from "./contained-folder.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const PIECE_BYTES = 1024 * 1024;

/** Thrown when there is something else than a file by the name. Its message follows "it can't be used:". */
export class UnusableFile extends Error {}

/**
 * Reads a file that guest code may have put there, without following a link.
 *
 * @param options - `check` gets the file's size and may throw.
 * @returns `undefined` when there is no file.
 * @throws UnusableFile
 */
export async function readContained(
  folder: ContainedFolder,
  name: string,
  { signal, check }: { signal?: AbortSignal | undefined; check: (bytes: number) => void },
): Promise<Buffer | undefined> {
  try {
    // Without O_NONBLOCK a named pipe that guest code created would block here.
    await using handle = await open(folder.child(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile()) throw new UnusableFile("it is not a regular file");
    check(found.size);
    const buffer = Buffer.alloc(found.size);
    let read = 0;
    // Not to the end: guest code may go on writing.
    while (read < buffer.length) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(
        buffer,
        read,
        Math.min(PIECE_BYTES, buffer.length - read),
        read,
      );
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    signal?.throwIfAborted();
    return buffer.subarray(0, read);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw new UnusableFile("it is a link", { cause: error });
    throw error;
  }
}
