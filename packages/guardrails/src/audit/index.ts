export { auditCalls, auditedValue } from "./audit-calls.ts";
export { createAuditLog, verifyAuditLog } from "./audit-file.ts";
export type { AuditLogSettings, AuditVerification } from "./audit-file.ts";
export type { AuditProblem } from "./audit-chain.ts";
