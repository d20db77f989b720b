export { auditCalls, auditedValue, auditStarts } from "./audit-calls.ts";
export { createAuditLog, probeAuditLog, verifyAuditLog } from "./audit-file.ts";
export type { AuditLogSettings, AuditVerification } from "./audit-file.ts";
export type { AuditProblem } from "./audit-chain.ts";
