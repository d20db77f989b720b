// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { CemError, DEFAULT_RUN_LIMITS, ERROR_CODES, toolId, toolNotFound } from "@cem/core";

assert.equal(toolId({ server: "calculator", name: "add" }), "calculator.add");
const error = toolNotFound({ server: "calculator", tool: "ad" }, { nearest: "add" });
assert.ok(CemError.isInstance(error));
assert.ok(error.code in ERROR_CODES);
assert.ok(Object.isFrozen(DEFAULT_RUN_LIMITS));
