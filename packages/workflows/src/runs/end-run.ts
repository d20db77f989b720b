import { Journal } from "./journal.ts";
import { Outcomes } from "./outcomes.ts";
import { readJournal } from "./read-journal.ts";
import type { RunFolder } from "./run-folder.ts";
import { RunLock } from "./run-lock.ts";

/**
 * Writes down that a run was cancelled which no process carries out.
 *
 * @throws CemError `WORKFLOW_RUN_BUSY` where a process has taken it meanwhile.
 */
export async function endRun(place: RunFolder): Promise<void> {
  const lock = await RunLock.take(place.folder);
  try {
    const outcomes = new Outcomes();
    const length = await readJournal(place.journal, outcomes.add);
    const journal = Journal.open(place.journal, {
      now: () => outcomes.ms,
      length,
      assertOwned: lock.assertHeld,
    });
    const error = { code: "ABORTED", message: "The run was cancelled.", details: { run: place.id } };
    journal.append({ type: "run-ended", status: "cancelled", outputs: {}, error });
    await journal.flush();
    await journal.close();
  } finally {
    lock.release();
  }
}
