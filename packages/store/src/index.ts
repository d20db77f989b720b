export { createFolderStore } from "./folder-store.ts";
export type { FolderStoreSettings } from "./folder-store.ts";
export {
  checkSize,
  decodeKey,
  encodeKey,
  MAX_VALUE_BYTES,
  pageSize,
  rangeOf,
  scopeStore,
  shownLocation,
  storeConflict,
} from "./keys.ts";
export { requireSameKeys } from "./same-keys.ts";
export { countOlderKeys, parseSealingKeys, seal, sealStore, unseal } from "./sealed-store.ts";
export type { SealingKey } from "./sealed-store.ts";
export { evictionRisk, storeUnavailable } from "./unavailable.ts";
