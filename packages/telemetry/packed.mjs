// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { flushTelemetry, traceCarrier, traced } from "@cem/telemetry";

assert.equal(await traced("work", {}, async () => 7), 7);
assert.equal(traceCarrier(), undefined);
await flushTelemetry();
