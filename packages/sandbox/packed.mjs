// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { FairGate, GUEST_CLIENT_DECLARATIONS, resolveLimits } from "@cem/sandbox";
import { denoArguments, guestBootFile } from "@cem/sandbox/provider-kit";

assert.ok(existsSync(guestBootFile));
const closed = { denyRead: [], denyWrite: [], network: "none", memoryMb: 256 };
const flags = denoArguments({ bootFile: guestBootFile, read: ["/work"], write: ["/work"], ...closed });
assert.ok(flags.includes("--no-remote") && flags.includes(guestBootFile));
assert.match(GUEST_CLIENT_DECLARATIONS, /cem:client|export/);
assert.equal(typeof resolveLimits, "function");
assert.equal(typeof new FairGate(1), "object");
