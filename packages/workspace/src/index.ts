export { createResultStore } from "./result-store.ts";
export type { ResultStoreSettings } from "./result-store.ts";
export { STATE_FORMATS } from "./state-format.ts";
export type { StateFormat } from "./state-format.ts";
export { createStateStore } from "./state-store.ts";
export type { StateStoreSettings } from "./state-store.ts";
export type { JsonValue, ResultPage, ResultStore, StateStore } from "@cem/core";
