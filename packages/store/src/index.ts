export { checkSize, MAX_VALUE_BYTES, shownLocation, storeConflict, storeUnavailable } from "./errors.ts";
export { createFolderStore } from "./folder-store.ts";
export type { FolderStoreSettings } from "./folder-store.ts";
export { decodeKey, encodeKey, rangeOf } from "./keys.ts";
export type { KeyRange } from "./keys.ts";
export { pageSize } from "./limits.ts";
export { scopeStore } from "./scoped-store.ts";
export { parseSealingKeys, reseal, sealStore } from "./sealed-store.ts";
export type { SealingKey } from "./sealed-store.ts";
