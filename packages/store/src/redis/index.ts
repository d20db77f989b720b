export { createRedisStore, openRedis } from "./redis-store.ts";
export type { RedisStoreSettings } from "./redis-store.ts";
