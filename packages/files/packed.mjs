// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { appendPrivately, isProcessRunning, replaceFile } from "@cem/files";

await replaceFile("made/state.json", "{}");
appendPrivately("made/state.json", "\n");
assert.equal(readFileSync("made/state.json", "utf8"), "{}\n");
if (process.platform !== "win32") assert.equal(statSync("made/state.json").mode & 0o777, 0o600);
assert.ok(isProcessRunning(process.pid));
