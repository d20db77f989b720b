export { ERRORS, hintFor } from "@cem/core/errors";
export { warningsOf } from "./admin/edit-servers.ts";
export { addServers, removeServerAndFiles } from "./admin/edit-servers.ts";
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
export { layProjectFiles } from "./admin/project.ts";
export type { LaidFiles } from "./admin/project.ts";
export { measureDirectCost, measureTokenCost } from "./admin/servers.ts";
export { deadRuns, queueLoad, retryDeadRun } from "./admin/shared-services.ts";
export type { DeadRun, QueueLoad } from "@cem/queue";
export { listPlugins, runPluginCommand } from "./admin/plugins.ts";
export type { PluginCommandRequest } from "./admin/plugins.ts";
export type { PluginReport } from "./plugins/open-plugins.ts";
export { resealSharedStore } from "./admin/shared-services.ts";
export type { ResealedStore } from "./admin/shared-services.ts";
export { pullEmbeddingModel } from "./admin/pull-embedding-model.ts";
export type { PulledEmbeddingModel, PullEmbeddingModelRequest } from "./admin/pull-embedding-model.ts";
export { readToolCode } from "./admin/servers.ts";
export { verifyAudit } from "./admin/records.ts";
export type { AuditVerification } from "@cem/guardrails/audit";
export { makeFolder } from "@cem/core/files";
export {
  addSkill,
  listSkills,
  promoteSkill,
  readSkill,
  removeSkill,
  testSkill,
} from "./admin/skills.ts";
export { listRuns, readRun, recordingOfRun } from "./admin/records.ts";
export type { RunRecording } from "./admin/records.ts";
export { listSessions, readSession } from "./admin/records.ts";
export type { SessionSummary } from "./admin/records.ts";
export type { SearchReport } from "./wiring/stages/selector.ts";
export type { TokenCost } from "@cem/mcp-server";
export type { PullProgress } from "@cem/selector";
export type { ExaminedServer, GeneratedServer, GenerateOptions } from "@cem/mcp-client/tools";
export { drawWorkflow, listWorkflows } from "./admin/workflows.ts";
export type { ConfiguredWorkflow } from "./admin/workflows.ts";
export type { DrawnStep } from "@cem/workflows";
