// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";

const sandbox = await createDenoSandboxProvider().create({
  workspaceDir: mkdtempSync(join(tmpdir(), "packed-")),
});
try {
  const outcome = await sandbox.run({ code: "const answer: number = 6 * 7;\nreturn answer;" });
  assert.equal(outcome.status, "completed");
  assert.equal(outcome.value, 42);
} finally {
  await sandbox.dispose();
}
