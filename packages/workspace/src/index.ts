export { createStateStore } from "./state-store.ts";
export type { StateStoreSettings } from "./state-store.ts";
