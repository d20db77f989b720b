// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createGuard } from "@cem/guardrails";

const verdict = await createGuard().review({ code: 'import x from "lodash";', tools: [] });
assert.equal(verdict.allowed, false);
assert.equal(verdict.findings[0].rule, "no-packages");
