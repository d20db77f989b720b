export { auditDigest } from "./audit-digest.ts";
export { flushTelemetry } from "./flush.ts";
export { instruments } from "./instruments.ts";
export { observeOwners, observeQueue, observeSandbox } from "./observed.ts";
export { clientTrace, contextOf, traceCarrier } from "./trace-carrier.ts";
export type { ClientTrace, TraceCarrier } from "./trace-carrier.ts";
export { failSpan, keepTrace, traced } from "./tracing.ts";
