// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { executeTask } from "code-execution-mcp";

const { status, value } = await executeTask("Calculate (5 + 3) * 2", { configFile: false });
assert.equal(status, "success");
assert.equal(value, 16);
