export { hintFor } from "./hints.ts";
export { shellWord } from "./shell-word.ts";
export { warningsOf } from "./admin/server-warnings.ts";
export { addServers, removeServerAndFiles } from "./admin/edit-servers.ts";
export type { RemovedServer } from "./admin/edit-servers.ts";
export { cleanCustomers, customerUsage, deleteCustomer, listCustomers } from "./admin/customers.ts";
export type { CustomerUsage } from "@cem/workspace";
export { emitClient } from "./admin/emit-client.ts";
export { findImportable } from "./admin/import-servers.ts";
export type { Importable, ImportableServer } from "./admin/import-servers.ts";
export { inspectTrust, listTrusted, trustItems, untrustFolder } from "./admin/folder-trust.ts";
export type { TrustReport } from "./admin/folder-trust.ts";
export { inspectHost } from "./admin/inspect-host.ts";
export type { FolderReport, HostReport } from "./admin/inspect-host.ts";
export { generateTools, inspectServers, listCatalog, signIn } from "./admin/mcp-servers.ts";
export type { ServerSource } from "./admin/mcp-servers.ts";
export { inspectSecurity } from "./admin/inspect-security.ts";
export type { SecurityReport } from "./admin/inspect-security.ts";
export { diffsOf, planMigration, writeMigration } from "./admin/migrate.ts";
export { layProjectFiles } from "./admin/project-files.ts";
export type { LaidFiles } from "./admin/project-files.ts";
export { measureDirectCost, measureTokenCost } from "./admin/server-cost.ts";
export { deadRuns, queueCounts, retryDeadRun } from "./admin/queue.ts";
export type { DeadRun, QueueCounts } from "@cem/queue";
export { listPlugins, runPluginCommand } from "./admin/plugins.ts";
export type { PluginCommandRequest } from "./admin/plugins.ts";
export type { PluginReport } from "./plugins/open-plugins.ts";
export { resealSharedStore } from "./admin/store.ts";
export type { ResealedStore } from "./admin/store.ts";
export { stampProject } from "./admin/project-stamp.ts";
export { pullEmbeddingModel } from "./admin/pull-embedding-model.ts";
export type { PulledEmbeddingModel, PullEmbeddingModelRequest } from "./admin/pull-embedding-model.ts";
export { readToolCode } from "./admin/tool-code.ts";
export { verifyAudit } from "./admin/verify-audit.ts";
export type { AuditVerification } from "@cem/guardrails/audit";
export { makeFolder } from "@cem/core/files";
export {
  addSkill,
  learnSkills,
  listSkills,
  promoteSkill,
  readSkill,
  removeSkill,
  testSkill,
} from "./admin/skills.ts";
export type { LearnedSkills } from "./admin/skills.ts";
export { listRuns, readRun, recordingOfRun } from "./admin/runs.ts";
export type { RunRecording } from "./admin/runs.ts";
export { listSessions, readSession } from "./admin/sessions.ts";
export type { SessionSummary } from "./admin/sessions.ts";
export type { SearchReport } from "./wiring/configured-selector.ts";
export type { TokenCost } from "@cem/mcp-server";
export type { PullProgress } from "@cem/selector";
export type { ExaminedServer, GeneratedServer, GenerateOptions } from "@cem/mcp-tools";
export type { MigratedFile, Migration } from "@cem/migrate";
export { drawWorkflow, listWorkflows, workflowFromSession } from "./admin/workflows.ts";
export type { ConfiguredWorkflow } from "./admin/workflows.ts";
export type { DrawnStep } from "@cem/workflows";
