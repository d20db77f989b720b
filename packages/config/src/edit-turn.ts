import path from "node:path";
import { makeFolder, PRIVATE_FOLDER, stillWritten, withFileLock } from "@cem/core/files";

const WAIT_MS = 10_000;

/**
 * Does work that reads a file and writes it again while no other process does such work with it.
 *
 * @throws CemError `STATE_BUSY` when another has been at it for 10 seconds.
 */
export async function editInTurn<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  makeFolder(path.dirname(file), PRIVATE_FOLDER);
  const busy = (): Error => stillWritten(file, WAIT_MS);
  return withFileLock(`${file}.lock`, work, { waitMs: WAIT_MS, busy });
}
