export { ERRORS, hintFor } from "@cem/core/errors";
export { warningsOf } from "./admin/edit-servers.ts";
export { addServers, exemptFromApproval, removeServerAndFiles } from "./admin/edit-servers.ts";
export type { RemovedServer } from "./admin/edit-servers.ts";
export { cleanCustomers, customerUsage, deleteCustomer, listCustomers } from "./admin/shared-services.ts";
export type { CustomerUsage } from "@cem/workspace";
export { findImportable } from "./admin/import-servers.ts";
export type { Importable, ImportableServer } from "./admin/import-servers.ts";
export { inspectTrust, listTrusted, trustItems, untrustFolder } from "./admin/trust.ts";
export type { TrustReport } from "./admin/trust.ts";
export { inspectHost } from "./admin/inspect.ts";
export type { FolderReport, HostReport } from "./admin/inspect.ts";
export { generateTools, inspectServers, listCatalog, signIn } from "./admin/servers.ts";
export type { ServerSource } from "./options.ts";
export { inspectSecurity } from "./admin/inspect.ts";
export type { SecurityReport } from "./admin/inspect.ts";
export { layFiles, layProjectFiles } from "./admin/project.ts";
export type { LaidFiles } from "./admin/project.ts";
export { measureDirectCost, measureTokenCost } from "./admin/servers.ts";
export { deadRuns, queueLoad, retryDeadRun } from "./admin/shared-services.ts";
export type { DeadRun, QueueLoad } from "@cem/queue";
export type { PluginReport } from "./plugins/open-plugins.ts";
export { readToolCode } from "./admin/servers.ts";
export { verifyAudit } from "./admin/records.ts";
export type { AuditVerification } from "@cem/guardrails/audit";
export { makeFolder } from "@cem/core/files";
export {
  drawWorkflow,
  listSkills,
  listWorkflows,
  promoteSkill,
  readSkill,
  removeSkill,
  testSkill,
} from "./admin/extensions.ts";
export { listRuns, readRun, recordingOfRun } from "./admin/records.ts";
export type { RunRecording } from "./admin/records.ts";
export type { SearchReport } from "./wiring/stages/selector.ts";
export type { TokenCost } from "@cem/mcp-server";
export type { ExaminedServer, GeneratedServer, GenerateOptions } from "@cem/mcp-client/tools";
export type { ConfiguredWorkflow } from "./wiring/workflows/workflow-settings.ts";
export type { DrawnStep } from "@cem/workflows";
