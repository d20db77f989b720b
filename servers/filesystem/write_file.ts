import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describeFailure, resolveInWorkspace } from "./paths.ts";

/** The text to write, and where. */
export interface WriteFileInput {
  /** Path of the file in the workspace: `notes/today.txt` or `/workspace/notes/today.txt`. */
  path: string;
  /** The whole new content of the file, as text. */
  content: string;
}

/** The file that was written. */
export interface WrittenFile {
  /** Path of the file in the workspace. */
  path: string;
  /** Size of the file in bytes. */
  bytes: number;
}

/**
 * Write a text file in the workspace. Creates the folders it needs and replaces a file that is there already.
 *
 * @returns The path and the size of the file.
 * @destructive
 * @idempotent
 */
export async function write_file(input: WriteFileInput): Promise<WrittenFile> {
  const { absolute, path } = await resolveInWorkspace("write_file", input?.path);
  const content: unknown = input.content;
  if (typeof content !== "string") {
    throw new TypeError(
      `write_file needs a string as "content", got ${content === null ? "null" : typeof content}. ` +
        "Turn other values into text first: JSON.stringify(value, null, 2).",
    );
  }
  try {
    if (path !== ".") await mkdir(dirname(absolute), { recursive: true });
    await writeFile(absolute, content, "utf8");
  } catch (error) {
    throw describeFailure(error, "write", path);
  }
  return { path, bytes: new TextEncoder().encode(content).byteLength };
}
