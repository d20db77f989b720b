import { CemError } from "@cem/core";
import type { AuditVerification } from "@cem/guardrails/audit";
import { loadFrom } from "../wiring/load.ts";
import type { ServerSource } from "./mcp-servers.ts";

/**
 * Verifies an audit log.
 *
 * @param source - With `file`, that one instead of the one that `logging.audit_file` names; with `expect`, a hash of an
 *   earlier verification that the log has to have.
 * @throws CemError `FILE_NOT_FOUND`, also where no audit log is kept.
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
  const named = file ?? (await loadFrom(source)).config.logging.auditFile;
  if (named === undefined) {
    throw new CemError(
      "FILE_NOT_FOUND",
      "No audit log is kept here. Set logging.audit_file, or name a file.",
    );
  }
  return verifyAuditLog(named, { expect });
}
