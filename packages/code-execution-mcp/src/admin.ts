export { ERRORS, hintFor } from "@cem/core/errors";
export { makeFolder } from "@cem/core/files";
export type { AuditVerification } from "@cem/guardrails/audit";
export type { ExaminedServer, GeneratedServer, GenerateOptions } from "@cem/mcp-client/tools";
export type { TokenCost } from "@cem/mcp-server";
export type { DeadRun, QueueLoad } from "@cem/queue";
export type { DrawnStep } from "@cem/workflows";
export type { CustomerUsage } from "@cem/workspace";
export { addServers, exemptFromApproval, removeServerAndFiles, warningsOf } from "./admin/edit-servers.ts";
export type { RemovedServer } from "./admin/edit-servers.ts";
export * from "./admin/extensions.ts";
export * from "./admin/import-servers.ts";
export * from "./admin/inspect.ts";
export { layFiles, layProjectFiles } from "./admin/project.ts";
export type { LaidFiles } from "./admin/project.ts";
export * from "./admin/records.ts";
export {
  generateTools,
  inspectServers,
  listCatalog,
  measureDirectCost,
  measureTokenCost,
  readToolCode,
  signIn,
} from "./admin/servers.ts";
export * from "./admin/shared-services.ts";
export { inspectTrust, listTrusted, trustItems, untrustFolder } from "./admin/trust.ts";
export type { TrustReport } from "./admin/trust.ts";
export type { ServerSource } from "./options.ts";
export type { PluginReport } from "./plugins/open-plugins.ts";
export { offerPackages } from "./wiring/packages.ts";
export type { SearchReport } from "./wiring/stages/selector.ts";
export type { ConfiguredWorkflow } from "./wiring/workflows/workflow-settings.ts";
