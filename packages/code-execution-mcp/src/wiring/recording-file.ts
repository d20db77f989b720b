import { readFile } from "node:fs/promises";
import type { Recording } from "@cem/bridge/recording";
import { CemError } from "@cem/core";
import { replaceFile } from "@cem/core/files";

/**
 * Makes sure, before anything runs, that a recording can be written. Only its owner may read it: what tools answer can
 * be private.
 *
 * @throws CemError `RECORDING_UNWRITABLE`.
 */
export async function openRecordingFile(file: string): Promise<(recording: Recording) => Promise<void>> {
  const write = async (recording: Recording): Promise<void> => {
    try {
      // A folder that is not there is a slip of the pen.
      await replaceFile(file, `${JSON.stringify(recording, undefined, 2)}\n`, { makeFolders: false });
    } catch (cause) {
      throw new CemError(
        "RECORDING_UNWRITABLE",
        `The recording ${file} can't be written: ${messageOf(cause)}`,
        {
          details: { file },
          cause,
        },
      );
    }
  };
  await write({ format: "cem-recording", version: 1, calls: [] });
  return write;
}

/** @throws CemError `RECORDING_UNREADABLE`. */
export async function readRecordingFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch (cause) {
    throw new CemError("RECORDING_UNREADABLE", `The recording ${file} can't be read: ${messageOf(cause)}`, {
      details: { file },
      cause,
    });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
