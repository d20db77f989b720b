import { open } from "node:fs/promises";
import { CemError, createLineSplitter, isObject } from "@cem/core";
import type { JournalRecord } from "./journal.ts";

/**
 * Reads a journal, line by line. What stands after the last whole line is left out.
 *
 * @param onRecord - Receives each record.
 * @returns the number of bytes up to the end of the last whole line.
 * @throws CemError `WORKFLOW_RUN_UNREADABLE` for a line that is no record.
 */
export async function readJournal(file: string, onRecord: (record: JournalRecord) => void): Promise<number> {
  let number = 0;
  let bytes = 0;
  const take = (line: string): void => {
    number += 1;
    bytes += Buffer.byteLength(line) + 1;
    const record = parse(line);
    if (record === undefined) {
      throw new CemError("WORKFLOW_RUN_UNREADABLE", `Line ${number} of ${file} is no record of a run.`, {
        details: { file, line: number },
      });
    }
    onRecord(record);
  };
  // Unlike readline, it ends lines at line feeds only: JSON may contain other line separators.
  const split = createLineSplitter(Infinity);
  try {
    await using handle = await open(file);
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      for (const line of split(chunk as Buffer)) take(line);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return bytes;
}

function parse(line: string): JournalRecord | undefined {
  try {
    const record: unknown = JSON.parse(line);
    return isObject(record) && "type" in record && "ms" in record
      ? (record as unknown as JournalRecord)
      : undefined;
  } catch {
    return undefined;
  }
}
