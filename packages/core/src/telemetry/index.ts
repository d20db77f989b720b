export { auditDigest } from "./audit-digest.ts";
export { flushTelemetry, failSpan, keepTrace, traced } from "./tracing.ts";
export { instruments, observeOwners, observeQueue, observeSandbox } from "./metrics.ts";
export { clientTrace, contextOf, traceCarrier } from "./trace-carrier.ts";
export type { ClientTrace, TraceCarrier } from "./trace-carrier.ts";
