import { readFile } from "node:fs/promises";
import { describeFailure, resolveInWorkspace } from "./paths.ts";

/** The file to read. */
export interface ReadFileInput {
  /** Path of the file in the workspace: `notes/today.txt` or `/workspace/notes/today.txt`. */
  path: string;
}

/**
 * Read a text file from the workspace and return its content.
 *
 * @returns The content of the file as text (UTF-8).
 * @readOnly
 * @idempotent
 */
export async function read_file(input: ReadFileInput): Promise<string> {
  const { absolute, path } = await resolveInWorkspace("read_file", input?.path);
  const bytes = await readFile(absolute).catch((error: unknown) => {
    throw describeFailure(error, "read", path);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`Can't read "${path}": it is not UTF-8 text (${bytes.byteLength} bytes).`, {
      cause: error,
    });
  }
}
