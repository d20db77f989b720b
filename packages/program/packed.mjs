// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { compileProgram, parseProgram } from "@cem/program";

const parsed = parseProgram(
  'import { add } from "./servers/calculator/index.ts";\nreturn await add({ a: 1, b: 2 });',
);
assert.ok(parsed.ok);
assert.equal(parsed.program.imports[0].specifier, "./servers/calculator/index.ts");
assert.equal(compileProgram("const = 1").ok, false);
