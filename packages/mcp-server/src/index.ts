export { createAgentServer } from "./create-server.ts";
export type { AgentServer, AgentServerSettings, Servable } from "./agent-server.ts";
export { ownerNameOf, ownerUnknown } from "./served-client.ts";
export type { OwnerName, OwnerParts, OpenOwner, ServedClient } from "./served-client.ts";
export { customTool } from "./custom-tool.ts";
export type { AnyCustomTool, CustomTool, CustomToolContext } from "./custom-tool.ts";
export type { WorkflowTool } from "./tools/run-tools.ts";
export type { GuestFacts, Profile, RunWorkflowTool, ServedParts } from "./tools/server-tool.ts";
export { EXPOSED } from "./upstream/upstream-contents.ts";
export type {
  Exposed,
  UpstreamContents,
  UpstreamKind,
  UpstreamOptions,
  UpstreamRequest,
} from "./upstream/upstream-contents.ts";
export { PROFILES } from "./tools/server-tool.ts";
export type { RunRegistry } from "./runs/run-registry.ts";
export { serveStdio } from "./stdio.ts";
export type { Serving, StdioOptions } from "./stdio.ts";
export type { HealthServing, HealthSettings, Probe, ReadinessReport } from "./http/health.ts";
export { serveHealth } from "./http/health.ts";
export { openMetrics } from "./http/metrics.ts";
export type { PrometheusMetrics } from "./http/metrics.ts";
export { serveHttp } from "./http/serve-http.ts";
export type { HttpServing } from "./http/serve-http.ts";
export { currentQuotaOwner } from "./exchange.ts";
export type { HttpMount, HttpOptions } from "./http/options.ts";
export type { AuthSettings, IssuerAuthSettings, TokenAuthSettings } from "./http/auth.ts";
export { createLogger } from "./logger.ts";
export type { Logger, LoggerSettings, LogLevel } from "./logger.ts";
export { measureDirectCost, measureTokenCost } from "./token-cost.ts";
export type { TokenCost } from "./token-cost.ts";
export { readToolCode } from "./tools/catalog-tools.ts";
export type { HintFor } from "@cem/tool-files/answers";
