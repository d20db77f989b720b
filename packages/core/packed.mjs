// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { CemError, DEFAULT_RUN_LIMITS, toolId, toolNotFound } from "@cem/core";
import { ERRORS, hintFor } from "@cem/core/errors";
import { appendPrivately, isProcessRunning, replaceFile } from "@cem/core/files";
import { flushTelemetry, traceCarrier, traced } from "@cem/core/telemetry";
import { nearest, splitSteps, splitWords } from "@cem/core/text";
import { loadTokenCounter } from "@cem/core/tokens";

assert.equal(toolId({ server: "calculator", name: "add" }), "calculator.add");
const error = toolNotFound({ server: "calculator", tool: "ad" }, ["add"]);
assert.ok(CemError.isInstance(error));
assert.ok(error.code in ERRORS);
assert.match(String(hintFor(error)), /cem tools/);
assert.ok(Object.isFrozen(DEFAULT_RUN_LIMITS));

await replaceFile("made/state.json", "{}");
appendPrivately("made/state.json", "\n");
assert.equal(readFileSync("made/state.json", "utf8"), "{}\n");
if (process.platform !== "win32") assert.equal(statSync("made/state.json").mode & 0o777, 0o600);
assert.ok(isProcessRunning(process.pid));

assert.deepEqual(splitWords("getUserName"), ["get", "user", "name"]);
assert.deepEqual(nearest("get_wether", ["get_weather", "add"]), ["get_weather"]);
assert.equal(splitSteps("Calculate 5 + 3 and get weather for Oslo").length, 2);

const count = await loadTokenCounter();
assert.equal(count("hello world"), 2);
assert.equal(count("<|endoftext|>"), 7);

assert.equal(await traced("work", {}, async () => 7), 7);
assert.equal(traceCarrier(), undefined);
await flushTelemetry();
