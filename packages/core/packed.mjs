// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { CemError, DEFAULT_RUN_LIMITS, toolId } from "@cem/core";

assert.equal(toolId({ server: "calculator", name: "add" }), "calculator.add");
assert.ok(CemError.isInstance(new CemError("A", "b")));
assert.ok(Object.isFrozen(DEFAULT_RUN_LIMITS));
