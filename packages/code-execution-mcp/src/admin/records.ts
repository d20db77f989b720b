import type { AnsweredCall } from "@cem/bridge";
import { CemError } from "@cem/core";
import type {
  RecordedCall,
  RunRecord,
  RunRecordFilter,
  RunRecords,
  RunRecordSummary,
  ToolResult,
} from "@cem/core";
import type { AuditVerification } from "@cem/guardrails/audit";
import type { ConfigSource, ServerSource } from "../options.ts";
import { createLog } from "../wiring/log.ts";
import { openProject } from "../wiring/open-project.ts";
import type { Project } from "../wiring/project.ts";

/** Lists recorded runs of the project, or of the owner named by `source`, latest first. */
export async function listRuns(
  filter: RunRecordFilter = {},
  source: ConfigSource = {},
): Promise<RunRecordSummary[]> {
  await using project = await openProject(source, createLog);
  return await requireRecords(project).list(filter);
}

/**
 * Reads the record of a run.
 *
 * @param id - Its id, or `last`.
 * @throws CemError `RUN_NOT_FOUND`
 */
export async function readRun(id: string, source: ConfigSource = {}): Promise<RunRecord> {
  await using project = await openProject(source, createLog);
  return await requireRecords(project).read(id);
}

/** The calls of a run in the form a replay takes, and the number of calls that are missing. */
export type RunRecording = ReturnType<typeof recordingOfRun>;

/** Extracts the calls of a run from its record, for a replay. */
export function recordingOfRun({ calls }: RunRecord) {
  const onHost = calls.filter(({ args }) => args !== undefined);
  const answered = onHost.flatMap(recordedCall);
  return { recording: answered, missing: onHost.length - answered.length };
}

function recordedCall({ server, tool, args, result }: RecordedCall): AnsweredCall[] {
  if (args === undefined || result === undefined || !("value" in args) || !("value" in result)) return [];
  return [{ server, tool, args: args.value, result: result.value as unknown as ToolResult }];
}

/** @throws CemError `OPTION_INVALID` if no records are kept. */
function requireRecords({ records }: Project): RunRecords {
  if (records !== undefined) return records;
  throw new CemError("OPTION_INVALID", "Runs are not recorded here: runs.records is false.");
}

/**
 * Verifies an audit log.
 *
 * @param source - `file` is verified instead of `logging.audit_file`. `expect` is a hash from an earlier verification that
 *   the log must contain.
 * @throws CemError `FILE_NOT_FOUND`, also if no audit log is kept.
 */
export async function verifyAudit({
  file,
  expect,
  ...source
}: ServerSource & {
  file?: string | undefined;
  expect?: string | undefined;
} = {}): Promise<AuditVerification> {
  const { verifyAuditLog } = await import("@cem/guardrails/audit");
  if (file !== undefined) return verifyAuditLog(file, { expect });
  await using project = await openProject(source);
  const { auditFile } = project.config.logging;
  if (auditFile !== undefined) return await verifyAuditLog(auditFile, { expect });
  throw new CemError("FILE_NOT_FOUND", "No audit log is kept here. Set logging.audit_file, or name a file.");
}
