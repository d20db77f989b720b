export { createPostgresStore } from "./postgres-store.ts";
export type { PostgresStoreSettings } from "./postgres-store.ts";
