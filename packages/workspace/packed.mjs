// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createSessionLog, createStateStore, readSession } from "@cem/workspace";
import { createStoreBlobs, createWorkspaceSync, parseS3Url } from "@cem/workspace/sync";

mkdirSync("work");
const state = createStateStore({ workspaceDir: "work" });
await state.save({ step: 2 });
assert.deepEqual((await state.read()).data, { step: 2 });
await state.save({ step: 3 }, "notes.msgpack");
assert.deepEqual((await state.read("notes.msgpack")).data, { step: 3 });
await assert.rejects(state.read("../outside.json"), { code: "STATE_PATH_INVALID" });

const log = createSessionLog({ workspaceDir: "work" });
log.record({ task: "Add 5 and 3", result: { code: "return 8", value: 8, output: "", error: null } });
await log.close();
assert.equal((await readSession("work", "last")).tasks.length, 1);

// Its own tests copy files between machines, with a store: @cem/store is another package.
assert.equal(parseS3Url("s3://bucket/prefix", {}).bucket, "bucket");
assert.equal(typeof createStoreBlobs, "function");
assert.equal(typeof createWorkspaceSync, "function");
