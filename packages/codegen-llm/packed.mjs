// Run by `npm test` in an empty folder where only the packed package is installed, without the optional openai.
import assert from "node:assert/strict";
import { createFallbackGenerator, createLlmGenerator } from "@cem/codegen-llm";

const request = { task: "Calculate 1 + 1", tools: [] };
await assert.rejects(createLlmGenerator({ model: "m" }).generate(request), { code: "LLM_KEY_MISSING" });
const model = createLlmGenerator({ model: "m", apiKey: "sk-secret" });
await assert.rejects(model.generate(request), (error) => {
  assert.equal(error.code, "LLM_PACKAGE_MISSING");
  assert.match(error.message, /npm install openai/);
  return true;
});
const rules = {
  specificationVersion: "v1",
  generate: async () => ({ status: "generated", code: "export default 2;", origin: "rules", uses: [] }),
};
const generated = await createFallbackGenerator(model, rules).generate(request);
assert.equal(generated.origin, "rules");
assert.equal(generated.notes.length, 1);
