export { createDiscovery } from "./create-discovery.ts";
export type { DiscoverySettings } from "./create-discovery.ts";
