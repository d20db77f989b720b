// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createTypeChecker } from "@cem/type-check";

mkdirSync("servers/calculator", { recursive: true });
const add =
  "export async function add(input: { a: number; b: number }): Promise<number> { return input.a + input.b; }";
writeFileSync("servers/calculator/index.ts", add);
const checker = createTypeChecker({ serversDir: path.resolve("servers") });
const code = (name) =>
  `import { add } from "./servers/calculator/index.ts";\nexport default await add({ a: 1, ${name}: 2 });`;
assert.deepEqual(await checker.check({ code: code("b"), tools: [] }), []);
const [finding] = await checker.check({ code: code("c"), tools: [] });
assert.equal(finding.line, 2);
assert.match(finding.message, /add: .*'c' does not exist/);
await checker.dispose();
