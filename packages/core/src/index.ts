export { isObject, parseJson } from "./json.ts";
export { createLineSplitter } from "./line-splitter.ts";
export type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
export { abandonOnAbort, UNAWAITED_CALL, withReason } from "./abort.ts";
export { CemError, forClients, toErrorInfo } from "./errors.ts";
export type { ErrorCode, ErrorDetails, ErrorInfo, KnownErrorCode } from "./errors.ts";
export {
  callAborted,
  resultNotJson,
  resultTooLarge,
  serverNotFound,
  toolNotFound,
  authRequired,
  serverDisabled,
} from "./failures.ts";
export type { FailedTool } from "./failures.ts";
export { writeFailure } from "./write-failures.ts";
export { exampleArguments, exampleCall } from "./example-call.ts";
export { copyBeginning } from "./copy-beginning.ts";
export { runTitle } from "./run-title.ts";
export { RECORDED_STATUSES, STATUSES, statusOfCall, statusOfRun } from "./status.ts";
export { FairGate, Shares } from "./fair-gate.ts";
export { Lazy } from "./lazy.ts";
export { hasWorkThreads, moduleBeside, offload, useWorkThreads } from "./offload.ts";
export type { OffloadedWork } from "./offload.ts";
export { assertKnownOptions } from "./options.ts";
export { readAnnotations, toolId } from "./tools.ts";
export type {
  CatalogSnapshot,
  ToolAnnotations,
  ToolCatalog,
  ToolDefinition,
  ToolFlag,
  ToolProblem,
  ToolServer,
  ToolKind,
} from "./tools.ts";
export type { RankedTool, Selection, SelectRequest, ToolSelector } from "./selection.ts";
export type {
  CodeGenerator,
  GeneratedCode,
  GenerateFeedback,
  GenerateRequest,
  GenerationUsage,
  GenerationRefused,
  UnfilledStep,
} from "./generation.ts";
export type { Finding, Guard, ReviewRequest, TypeChecker, Verdict } from "./review.ts";
export type {
  AnnouncedCall,
  InvokeContext,
  ToolCall,
  ToolCallRecord,
  ToolInvoker,
  ToolProgress,
  ToolResult,
} from "./invocation.ts";
export type { ApprovalAnswer, ApprovalRequest, Approve } from "./approval.ts";
export type { AuditEvent, AuditLog } from "./audit.ts";
export { nobodyAsked } from "./elicitation.ts";
export type { Sample } from "./sampling.ts";
export type { Elicit, ElicitAnswer, ElicitRequest } from "./elicitation.ts";
export { brokenTokenIn, holdsRedactionToken, redactionTokensIn } from "./redaction-tokens.ts";
export { restoreTokens } from "./restore-tokens.ts";
export { tokenizeInTurns, withoutValues } from "./redact.ts";
export type { RedactionScope, RedactionStream, Redactor } from "./redaction.ts";
export { isResultHandle } from "./results.ts";
export type { ResultHandle, ResultStore } from "./results.ts";
export type { SaveSkillOptions, Skill, SkillDraft, SkillStore, SkillSummary } from "./skills.ts";
export type { SessionCheckpoint, SessionLog, SessionRecord, SessionTask } from "./sessions.ts";
export type { StateStore } from "./state.ts";
export { ISOLATION_LEVELS } from "./sandbox.ts";
export type {
  GuestError,
  Isolation,
  IsolationLevel,
  Mount,
  NetworkPolicy,
  RunOutcome,
  RunReport,
  RunRequest,
  Sandbox,
  SandboxProbe,
  SandboxProvider,
  SandboxSpec,
  SandboxStats,
  UnawaitedWork,
} from "./sandbox.ts";
export { DEFAULT_RUN_LIMITS } from "./limits.ts";
export type { RunLimits } from "./limits.ts";
export { OWNER_ID_RULE, GIVEN_OWNER_ID, isGivenOwnerId } from "./owner-ids.ts";
export type { MeteredRun, RunMeter, RunStop, RunTicket } from "./run-meter.ts";
export { STAGES } from "./agent.ts";
export type {
  Agent,
  AgentEvent,
  ExecuteOptions,
  SearchOptions,
  TaskResult,
  TaskStatus,
  TypeCheckMode,
} from "./agent.ts";
export type { ForwardedAnswer, ForwardedRequest, Replicas } from "./replicas.ts";
export type { McpTransportProvider } from "./mcp-transport.ts";
export { WORKFLOW_FILE } from "./workflow-steps.ts";
export type { WorkflowStepContext, WorkflowStepKind } from "./workflow-steps.ts";
export type { WorkspaceSync } from "./workspace-sync.ts";
export type { ListOptions, Store, StoredValue, StoreKey, WriteOptions } from "./store.ts";
export type {
  EndedRun,
  RecordedCall,
  RecordedData,
  RecordRun,
  RunRecord,
  RunRecordFilter,
  RunRecords,
  RunRecordSummary,
} from "./run-records.ts";
export { keysIn, updateStored } from "./update-stored.ts";
