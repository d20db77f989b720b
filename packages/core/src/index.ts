export * from "./json.ts";
export { decodeTextInPlace, endOfJson, isJson, partsOfJson, pastCharacter, readJson } from "./json-bytes.ts";
export { createLineSplitter, messageIdIn } from "./line-splitter.ts";
export { abandonOnAbort, callListener, UNAWAITED_CALL, Lazy } from "./promises.ts";
export { CemError, forClients, fromErrorInfo, toErrorInfo } from "./errors.ts";
export type { ErrorCode, ErrorDetails, ErrorInfo, KnownErrorCode } from "./errors.ts";
export * from "./failures.ts";
export { exampleArguments, exampleCall, FORMAT_EXAMPLES } from "./example-call.ts";
export { printCall, printImport, printLiteral } from "./print-call.ts";
export {
  copyBeginning,
  copyWholeWords,
  runTitle,
  showArguments,
  showName,
  showWholeWords,
} from "./short-texts.ts";
export type * from "./run-records.ts";
export { createRunClock, MAX_TIMER_MS } from "./run-clock.ts";
export { createTurns, FairGate, Shares, type Slot } from "./fair-gate.ts";
export { hasWorkThreads, moduleBeside, offload, useWorkThreads } from "./offload.ts";
export type { OffloadedWork } from "./offload.ts";
export { assertKnownOptions, OWNER_ID_RULE, GIVEN_OWNER_ID, isGivenOwnerId } from "./options.ts";
export { calledTool, matchTools } from "./tool-match.ts";
export * from "./tools.ts";
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
export { nobodyAsked } from "./questions.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  Sample,
  Elicit,
  ElicitAnswer,
  ElicitRequest,
} from "./questions.ts";
export type { AuditEvent, AuditLog } from "./audit.ts";
export {
  brokenTokenIn,
  holdsRedactionToken,
  isNumberToken,
  redactionTokensIn,
  restoreTokens,
} from "./redaction-tokens.ts";
export { tokenizeInTurns, withoutValues } from "./redaction.ts";
export type { RedactionScope, RedactionStream, Redactor } from "./redaction.ts";
export { isResultHandle, RESULT_EXTENSIONS } from "./results.ts";
export type { ResultHandle, ResultStore } from "./results.ts";
export type { SaveSkillOptions, Skill, SkillDraft, SkillStore, SkillSummary } from "./skills.ts";
export type {
  SessionCheckpoint,
  SessionLog,
  SessionRecord,
  SessionTask,
  StateStore,
  WorkspaceSync,
} from "./workspace.ts";
export { GUEST_WORKSPACE, INTERNAL_IPV4, ISOLATION_LEVELS } from "./sandbox.ts";
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
export * from "./limits.ts";
export { RECORDED_STATUSES, STATUSES, statusOfCall, statusOfRun } from "./statuses.ts";
export type { Agent, AgentEvent, ExecuteOptions, SearchOptions, TaskResult, TypeCheckMode } from "./agent.ts";
export type { TaskStatus } from "./statuses.ts";
export type { ForwardedAnswer, ForwardedRequest, Replicas } from "./replicas.ts";
export type { McpTransportProvider } from "./mcp-transport.ts";
export * from "./workflow-steps.ts";
export { keysIn, updateStored } from "./store.ts";
export type { ListOptions, Store, StoredValue, StoreKey, WriteOptions } from "./store.ts";
