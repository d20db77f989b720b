// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const cem = (...args) => execFileSync("npx", ["--no-install", "cem", ...args], { encoding: "utf8" });
cem("init", ".");
assert.equal(cem("run", "--quiet", "Greet the person named Ada").trim(), "Hello, Ada!");
assert.equal(JSON.parse(cem("run", "--json", "Calculate 5 + 3")).value, 8);
