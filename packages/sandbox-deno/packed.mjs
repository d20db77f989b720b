// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";

const workspaceDir = mkdtempSync(join(tmpdir(), "packed-"));
const sandbox = await createDenoSandboxProvider().create({ workspaceDir });
try {
  const outcome = await sandbox.run({ code: "const answer: number = 6 * 7;\nreturn answer;" });
  assert.equal(outcome.status, "completed");
  assert.equal(outcome.value, 42);
} finally {
  await sandbox.dispose();
}

// As in a bundle, which lacks the files that the guest runs.
const guest = fileURLToPath(new URL("guest", import.meta.resolve("@cem/sandbox")));
renameSync(guest, `${guest}-away`);
await assert.rejects(createDenoSandboxProvider().create({ workspaceDir }), { message: /external/ });
