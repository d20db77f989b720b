export { auditDigest, customerDigest } from "./audit-digest.ts";
export { flushTelemetry, failSpan, keepTrace, traced } from "./tracing.ts";
export {
  addMetricSink,
  exportMetrics,
  measure,
  METRIC_BUCKETS,
  observeOwners,
  observeQueue,
  observeSandbox,
} from "./metrics.ts";
export type { MetricSink } from "./metrics.ts";
export { clientTrace, contextOf, traceCarrier } from "./trace-carrier.ts";
export type { ClientTrace, TraceCarrier } from "./trace-carrier.ts";
