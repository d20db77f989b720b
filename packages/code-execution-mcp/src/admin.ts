export { hintFor } from "./hints.ts";
export { findImportable } from "./import-servers.ts";
export type { Importable, ImportableServer } from "./import-servers.ts";
export { inspectHost } from "./inspect-host.ts";
export type { FolderReport, HostReport } from "./inspect-host.ts";
export { createLog } from "./log.ts";
export type { SearchReport } from "./configured-selector.ts";
export { makeFolder } from "./make-folder.ts";
export {
  addServers,
  generateTools,
  inspectServers,
  listCatalog,
  removeServerAndFiles,
  signIn,
} from "./manage-servers.ts";
export type { RemovedServer, ServerSource } from "./manage-servers.ts";
export { measureDirectCost, measureTokenCost } from "./server-cost.ts";
export { createUpstream } from "./upstream/create-upstream.ts";
export type { ConfiguredServer, Upstream, UpstreamOptions } from "./upstream/create-upstream.ts";
export type { ExaminedServer } from "./upstream/examine.ts";
export type { GeneratedServer, GenerateOptions } from "./upstream/generate.ts";
export type { TokenCost } from "@cem/mcp-server";
