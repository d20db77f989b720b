export { auditCalls } from "./audit-calls.ts";
export { auditedValue } from "./audited-value.ts";
export { createAuditLog } from "./create-audit-log.ts";
export type { AuditLogSettings } from "./create-audit-log.ts";
export { verifyAuditLog } from "./verify-audit-log.ts";
export type { AuditProblem, AuditVerification } from "./verify-audit-log.ts";
export type { AuditedValue, AuditEvent, AuditLog } from "@cem/core";
