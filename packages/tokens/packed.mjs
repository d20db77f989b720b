// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { loadTokenCounter } from "@cem/tokens";

const count = await loadTokenCounter();
assert.equal(count("hello world"), 2);
assert.equal(count("<|endoftext|>"), 7);
