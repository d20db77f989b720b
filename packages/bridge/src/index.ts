export { defineTool, isHostTool } from "./define-tool.ts";
export type { HostTool, HostToolContext, HostToolInput, ToolSchema } from "./define-tool.ts";
export { createHostTools } from "./host-tools.ts";
export type { HostTools, HostToolsSettings } from "./host-tools.ts";
export type { HostToolDescription } from "./tool-schema.ts";
export { combineSources } from "./tool-source.ts";
export type { CheckedCall, KnownTool, ToolSource } from "./tool-source.ts";
export { answerErrors, compose, noteArrivals, orderCalls } from "./middleware.ts";
export type { Middleware } from "./middleware.ts";
export { followSentCalls } from "./sent-calls.ts";
export { replaceLongNumbers } from "./long-numbers.ts";
export { checkCalls, createResultCheck, resultInvalid } from "./call-checks.ts";
export type { CallCheckSettings, ResultCheck, ResultCheckSettings } from "./call-checks.ts";
export type { OnUnvalidated, Unvalidated, Subject, Violation } from "./violation.ts";
export { createSchemaValidator, preloadSchemaValidation } from "./schema-validation.ts";
export type { SchemaCheck, SchemaValidator } from "./schema-validation.ts";
export { createMockInvoker } from "./mock-invoker.ts";
export type { MockInvoker, MockTool } from "./mock-invoker.ts";
export {
  DEFAULT_MAX_INLINE_BYTES,
  fitBytes,
  fitValue,
  keepBytes,
  keepOnce,
  readMimeType,
} from "./result-handles.ts";
export type { Attachment, ResultKeeping } from "./result-handles.ts";
export { createDeadline } from "./deadline.ts";
export type { Deadline } from "./deadline.ts";
export {
  createSecretFilter,
  createSecretList,
  MIN_SECRET_CHARACTERS,
  PLAIN_VALUE,
  SECRET_NAME,
  hideInside,
  withoutSecrets,
} from "./secrets.ts";
export type { HideSecrets } from "./secrets.ts";
export { createCallRecorder, createReplayer } from "./call-recorder.ts";
export type { CallRecorder, AnsweredCall } from "./call-recorder.ts";
export { CemError } from "@cem/core";
export type {
  Elicit,
  InvokeContext,
  JsonSchema,
  JsonValue,
  ResultStore,
  ToolCall,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
