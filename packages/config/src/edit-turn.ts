import path from "node:path";
import { makeFolder, PRIVATE_FOLDER, stillWritten, withFileLock } from "@cem/core/files";

const WAIT_MS = 10_000;

/**
 * Runs work that reads and rewrites a file while no other process does so.
 *
 * @throws CemError `STATE_BUSY` when another process keeps the file busy for 10 seconds.
 */
export async function editInTurn<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  makeFolder(path.dirname(file), PRIVATE_FOLDER);
  const busy = (): Error => stillWritten(file, WAIT_MS);
  return withFileLock(`${file}.lock`, work, { waitMs: WAIT_MS, busy });
}
