export { NotAFolder, openContained } from "./contained-folder.ts";
export type { ContainedFolder } from "./contained-folder.ts";
export { withLock } from "./file-lock.ts";
export { createResultStore } from "./result-store.ts";
export type { ResultStoreSettings } from "./result-store.ts";
export { listSessions, readSession } from "./session-folder.ts";
export type { SessionSummary } from "./session-folder.ts";
export { createSessionLog } from "./session-log.ts";
export type { SessionLogSettings } from "./session-log-settings.ts";
export { recapSession } from "./session-recap.ts";
export type { Redact } from "./session-task.ts";
export { encodeState, parseState, STATE_FORMATS } from "./state-format.ts";
export type { ParsedState, StateFormat } from "./state-format.ts";
export { mergeChanges } from "./state-merge.ts";
export type { Merged } from "./state-merge.ts";
export { createCustomerFolders } from "./customer-folders.ts";
export type {
  CustomerFolder,
  CustomerFolders,
  CustomerFoldersSettings,
  CustomerUsage,
} from "./customer-folders.ts";
export type { CustomerQuota, QuotaPeriod } from "./customer-usage.ts";
export type { QuotaUsage } from "./run-charges.ts";
export { createRunMeter } from "./run-meter.ts";
export { createRunRecords } from "./run-records.ts";
export type { RunRecordsSettings } from "./run-records.ts";
export type { RunMeterSettings } from "./run-meter.ts";
export { followFolder } from "./same-folder.ts";
export { thisMachine } from "./steady-clock.ts";
export {
  followCustomer,
  incarnationOf,
  isCustomerThere,
  isIncarnationThere,
  keyOfCustomer,
} from "./shared-customer.ts";
export type { MachineClock } from "./steady-clock.ts";
export { customerIdOf, isCustomerId, requireCustomerId } from "./customer-id.ts";
export { createStateStore } from "./state-store.ts";
export type { StateStoreSettings } from "./state-store.ts";
export type { JsonValue, ResultStore, StateStore } from "@cem/core";
