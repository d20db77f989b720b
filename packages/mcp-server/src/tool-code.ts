import { open } from "node:fs/promises";
import type { ToolDefinition } from "@cem/core";

/** The code of one tool that is shown, in bytes. */
export const MAX_TOOL_CODE_BYTES = 6 * 1024;

/**
 * Reads the code of a tool that is a file of the project, at most {@link MAX_TOOL_CODE_BYTES} of it.
 *
 * @returns `undefined` for a tool that runs on the host, whose file only calls it, and for a file that can't be read.
 */
export async function readToolCode({ kind, file }: ToolDefinition): Promise<string | undefined> {
  if (kind === "host" || file === undefined) return undefined;
  try {
    await using handle = await open(file);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_TOOL_CODE_BYTES + 1), 0);
    // A character that is cut at the end is left out.
    const text = new TextDecoder().decode(buffer.subarray(0, Math.min(bytesRead, MAX_TOOL_CODE_BYTES)), {
      stream: true,
    });
    return bytesRead > MAX_TOOL_CODE_BYTES ? `${text}\n// … the rest of the file is left out` : text;
  } catch {
    return undefined;
  }
}
