export { createResultStore } from "./result-store.ts";
export type { ResultStoreSettings } from "./result-store.ts";
export { createCustomerFolders } from "./customer-folders.ts";
export type { CustomerFolder, CustomerFolders, CustomerUsage } from "./customer-folders.ts";
export { customerIdOf, requireCustomerId } from "./customer-id.ts";
export { createStateStore } from "./state-store.ts";
export type { StateStoreSettings } from "./state-store.ts";
export type { JsonValue, ResultPage, ResultStore, StateStore } from "@cem/core";
