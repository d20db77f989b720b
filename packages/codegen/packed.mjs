// Run by `npm test` in an empty folder where only the packed package is installed, without the optional openai.
import assert from "node:assert/strict";
import { createFallbackGenerator, createLlmGenerator } from "@cem/codegen/llm";
import { createRulesGenerator } from "@cem/codegen/rules";

const rules = createRulesGenerator();
const byRules = await rules.generate({ task: "Calculate (5 + 3) * 2", tools: [] });
assert.equal(byRules.status, "generated");
assert.match(byRules.code, /export default/);
const refused = await rules.generate({ task: "Send an email to Bob", tools: [] });
assert.equal(refused.status, "refused");

const request = { task: "Calculate 1 + 1", tools: [] };
await assert.rejects(createLlmGenerator({ model: "m" }).generate(request), { code: "LLM_KEY_MISSING" });
const model = createLlmGenerator({ model: "m", apiKey: "sk-secret" });
await assert.rejects(model.generate(request), (error) => {
  assert.equal(error.code, "LLM_PACKAGE_MISSING");
  assert.match(error.message, /npm install openai/);
  return true;
});
const generated = await createFallbackGenerator(model, rules).generate(request);
assert.equal(generated.origin, "rules");
assert.equal(generated.notes.length, 1);
