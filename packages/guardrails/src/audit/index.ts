export { auditCalls } from "./audit-calls.ts";
export { auditedValue } from "./audited-value.ts";
export { createAuditLog } from "./create-audit-log.ts";
export type { AuditLogSettings } from "./create-audit-log.ts";
export { verifyAuditLog } from "./verify-audit-log.ts";
export type { AuditProblem } from "./audit-chain.ts";
export { createSharedAuditLog, verifySharedAuditLog } from "./shared-audit-log.ts";
export type { AuditVerification } from "./verify-audit-log.ts";
export type { AuditEvent, AuditLog } from "@cem/core";
