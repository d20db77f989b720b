export { createResultStore } from "./files/result-store.ts";
export type { ResultStoreSettings } from "./files/result-store.ts";
export { listSessions, readSession } from "./sessions/session-files.ts";
export type { SessionSummary } from "./sessions/session-files.ts";
export { createSessionLog } from "./sessions/session-log.ts";
export type { SessionLogSettings } from "./sessions/open-session.ts";
export { recapSession } from "./sessions/session-task.ts";
export type { Redact } from "./sessions/session-task.ts";
export { createCustomerFolders } from "./customers/customer-folders.ts";
export type {
  CustomerFolder,
  CustomerFolders,
  CustomerFoldersSettings,
  CustomerUsage,
} from "./customers/customer-folders.ts";
export type { CustomerQuota, QuotaPeriod, QuotaUsage } from "./customers/quotas.ts";
export { createOpenCustomers } from "./customers/open-customers.ts";
export type { OpenCustomer, OpenCustomers, OpenCustomersSettings } from "./customers/open-customers.ts";
export { createRunMeter } from "./customers/run-meter.ts";
export { createRunRecord, ownerDigest } from "./records/run-record.ts";
export type { RecordRedactor, RunRecordParts } from "./records/run-record.ts";
export { createRunRecords, pruneRunRecords } from "./records/run-records.ts";
export type { RunRecordsSettings } from "./records/run-records.ts";
export type { RunMeterSettings } from "./customers/run-meter.ts";
export { followFolder, followCustomer, incarnationOf } from "./customers/shared-customer.ts";
export { customerExists, customerGone, customerKey } from "./customers/shared-customer.ts";
export { customerIdOf, customerIdOfClaim, requireCustomerId } from "./customers/customer-folders.ts";
export { createStateStore } from "./state/state-store.ts";
export type { StateStoreSettings } from "./state/state-store.ts";
export type { JsonValue, ResultStore, StateStore } from "@cem/core";
