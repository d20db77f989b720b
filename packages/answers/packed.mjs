// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { answerOf, signaturesOf } from "@cem/answers";

const result = {
  status: "success",
  value: { sum: 8 },
  output: "",
  error: null,
  outputDroppedBytes: 0,
  toolCalls: [],
  contextTokens: { direct: 0, used: 0, saved: 0 },
};
const { data } = await answerOf(result, { results: undefined });
assert.deepEqual([data.success, data.result], [true, { sum: 8 }]);
const long = await answerOf({ ...result, value: "x".repeat(100_000) }, { results: undefined });
assert.match(long.data.result, /\[cut: the value has 100002 characters/);
assert.equal(typeof signaturesOf([]), "object");
