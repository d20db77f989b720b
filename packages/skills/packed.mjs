// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createSkillStore } from "@cem/skills";

const store = createSkillStore({ skillsDir: "skills" });
const draft = {
  name: "double",
  description: "Double a number.",
  code: "export const double = (x: number): number => 2 * x;",
  test: 'import { double } from "./skills/double/index.ts";\nif (double(4) !== 8) throw new Error("wrong");',
};
const { status, version } = await store.save(draft, { author: "model", tools: [] });
assert.deepEqual([status, version], ["proposal", 1]);
assert.equal((await store.promote("double", "ada")).status, "active");
assert.deepEqual(
  (await store.list()).map(({ name }) => name),
  ["double"],
);
await assert.rejects(store.save({ ...draft, name: "Not a name" }, { author: "ada", tools: [] }), {
  code: "SKILL_INVALID",
});
