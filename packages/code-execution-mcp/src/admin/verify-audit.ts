import { CemError } from "@cem/core";
import type { AuditVerification } from "@cem/guardrails/audit";
import { disposeLoaded } from "../wiring/customer.ts";
import { loadFrom } from "../wiring/load.ts";
import { requireStore } from "../wiring/required-store.ts";
import type { ServerSource } from "./mcp-servers.ts";

/**
 * Verifies an audit log: that of the store where `logging.audit_store` keeps one there, else the file.
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
  const { verifyAuditLog, verifySharedAuditLog } = await import("@cem/guardrails/audit");
  if (file !== undefined) return verifyAuditLog(file, { expect });
  const loaded = await loadFrom(source);
  const { auditFile, auditStore } = loaded.config.logging;
  if (auditStore) {
    try {
      return await verifySharedAuditLog(await requireStore(loaded), { expect });
    } finally {
      await disposeLoaded(loaded);
    }
  }
  if (auditFile !== undefined) return verifyAuditLog(auditFile, { expect });
  throw new CemError(
    "FILE_NOT_FOUND",
    "No audit log is kept here. Set logging.audit_file or logging.audit_store, or name a file.",
  );
}
