// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createRulesGenerator } from "@cem/codegen";

const generated = await createRulesGenerator().generate({ task: "Calculate (5 + 3) * 2", tools: [] });
assert.equal(generated.status, "generated");
assert.match(generated.code, /export default/);
const refused = await createRulesGenerator().generate({ task: "Send an email to Bob", tools: [] });
assert.equal(refused.status, "refused");
