export type { Agent, ErrorInfo, JsonValue, ResultStore, StateStore } from "@cem/core";
export { createAgentServer } from "./create-server.ts";
export type { AgentServer, AgentServerSettings } from "./agent-server.ts";
export { customerNameOf, customerUnknown } from "./customer.ts";
export type { CustomerName, CustomerParts, OpenCustomer } from "./customer.ts";
export { customTool } from "./custom-tool.ts";
export type { AnyCustomTool, CustomTool, CustomToolContext } from "./custom-tool.ts";
export type { RunWorkflowTool, WorkflowTool } from "./workflow-tool.ts";
export type { GuestFacts } from "./guest-facts.ts";
export { EXPOSED } from "./upstream-contents.ts";
export type {
  Exposed,
  UpstreamContents,
  UpstreamKind,
  UpstreamOptions,
  UpstreamRequest,
} from "./upstream-contents.ts";
export { PROFILES } from "./profiles.ts";
export type { Profile } from "./profiles.ts";
export type { RunRegistry } from "./run-registry.ts";
export { serveStdio } from "./stdio.ts";
export type { Serving, StdioOptions } from "./stdio.ts";
export type { Probe, ReadinessReport } from "./readiness.ts";
export { serveHealth } from "./health.ts";
export type { HealthServing, HealthSettings } from "./health.ts";
export { serveHttp } from "./http.ts";
export type { HttpServing } from "./http.ts";
export { currentPayer } from "./http-exchange.ts";
export type { HttpForwarder } from "./http-forwarder.ts";
export type { HttpMount, HttpOptions } from "./http-options.ts";
export type { AuthSettings, IssuerAuthSettings, TokenAuthSettings } from "./http-auth.ts";
export { createLogger } from "./logger.ts";
export type { Logger, LoggerSettings, LogLevel } from "./logger.ts";
export { measureDirectCost, measureTokenCost } from "./token-cost.ts";
export type { TokenCost } from "./token-cost.ts";
export type { ServedClient } from "./served-client.ts";
export type { Servable } from "./agent-server.ts";
export { readToolCode } from "./tool-code.ts";
export type { HintFor } from "@cem/answers";
