export { auditDigest, customerDigest } from "./audit-digest.ts";
export { flushTelemetry, failSpan, keepTrace, traced } from "./tracing.ts";
export * from "./metrics.ts";
export * from "./trace-carrier.ts";
