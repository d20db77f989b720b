// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMicrosandboxProvider } from "@cem/sandbox-msb";
import { createMicrosandboxServerProvider } from "@cem/sandbox-msb/server";

const home = mkdtempSync(join(tmpdir(), "packed-"));
const provider = createMicrosandboxProvider({ home });
const probe = await provider.probe();
// The peer is not installed here, so no host can have machines: it has to say why.
assert.equal(probe.available, false);
assert.ok(probe.reason.length > 0);
await assert.rejects(provider.create({ workspaceDir: home }), { code: "SANDBOX_UNAVAILABLE" });

const server = createMicrosandboxServerProvider({ url: "http://127.0.0.1:9" });
const serverProbe = await server.probe();
assert.equal(serverProbe.available, false);
assert.match(serverProbe.reason, /can't be reached/);
