// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { nearest, splitSteps, splitWords } from "@cem/text";

assert.deepEqual(splitWords("getUserName"), ["get", "user", "name"]);
assert.deepEqual(nearest("get_wether", ["get_weather", "add"]), ["get_weather"]);
assert.equal(splitSteps("Calculate 5 + 3 and get weather for Oslo").length, 2);
