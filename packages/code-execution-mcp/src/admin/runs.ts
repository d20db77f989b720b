import { CemError } from "@cem/core";
import type { RecordedCall, RunRecord, RunRecordFilter, RunRecords, RunRecordSummary } from "@cem/core";
import type { Recording } from "@cem/bridge/recording";
import type { ConfigSource } from "../agent-options.ts";
import { disposeLoaded } from "../wiring/customer.ts";
import { loadFrom } from "../wiring/load.ts";
import { openConfiguredRecords } from "../wiring/run-records.ts";

/** Lists recorded runs of the project, or of the customer that `source` names, those that began last first. */
export async function listRuns(
  filter: RunRecordFilter = {},
  source: ConfigSource = {},
): Promise<RunRecordSummary[]> {
  return withRecords(source, (records) => records.list(filter));
}

/**
 * Reads the record of a run.
 *
 * @param id - Its id, or `last`.
 * @throws CemError `RUN_NOT_FOUND`
 */
export async function readRun(id: string, source: ConfigSource = {}): Promise<RunRecord> {
  return withRecords(source, (records) => records.read(id));
}

/** What of a recorded run can answer its calls when its code runs again. */
export interface RunRecording {
  recording: Recording;
  /** Calls on the host that can't be answered: their arguments or results were too large, or are not kept. */
  missing: number;
}

/** Makes a recording of the calls of a run, as a replay takes it. */
export function recordingOfRun({ calls }: RunRecord): RunRecording {
  const onHost = calls.filter(({ args }) => args !== undefined);
  const answered = onHost.flatMap(recordedCall);
  return {
    recording: { format: "cem-recording", version: 1, calls: answered },
    missing: onHost.length - answered.length,
  };
}

function recordedCall({ server, tool, ms, args, result }: RecordedCall): Recording["calls"] {
  if (args === undefined || result === undefined || !("value" in args) || !("value" in result)) return [];
  const answer = result.value as unknown as Recording["calls"][number]["result"];
  return [{ server, tool, ms, args: args.value, result: answer, files: [] }];
}

/** @throws CemError `OPTION_INVALID` where no records are kept. */
async function withRecords<T>(source: ConfigSource, work: (records: RunRecords) => Promise<T>): Promise<T> {
  const loaded = await loadFrom(source);
  loaded.records = openConfiguredRecords(loaded, () => {});
  try {
    if (loaded.records !== undefined) return await work(loaded.records);
    throw new CemError("OPTION_INVALID", "Runs are not recorded here: runs.records is false.");
  } finally {
    await disposeLoaded(loaded);
  }
}
