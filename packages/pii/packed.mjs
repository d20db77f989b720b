// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createDetector, createRedactor } from "@cem/pii";
import { createVaultFiles } from "@cem/pii/vaults";
import { createNameRecognizer } from "@cem/pii/names";

assert.deepEqual(createDetector().find("to ada@example.com"), [{ start: 3, end: 18, type: "EMAIL" }]);
const store = createVaultFiles({ folder: "./vaults", key: "00".repeat(32) });
const redactor = createRedactor({ store });
const token = redactor.tokenize("+1 415 555 2671", { session: "s" });
assert.match(token, /^\[\[PHONE:[a-z2-7]{16}\]\]$/);
await redactor.dispose();
const target = { session: "s", server: "crm", tool: "call" };
assert.equal(await createRedactor({ store }).detokenize(token, target), "+1 415 555 2671");
await assert.rejects(createNameRecognizer({ modelDir: "./none" }).recognize(["Ada"]), {
  code: "RECOGNIZER_FAILED",
});
