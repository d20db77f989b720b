// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** The two methods of a store that pieces of files and their head need. */
const values = new Map();
const nameOf = (key) => key.join("/");
const store = {
  specificationVersion: "v1",
  location: "memory",
  read: async (key) => values.get(nameOf(key)),
  async write(key, value, { version } = {}) {
    const found = values.get(nameOf(key));
    if (version !== undefined && version !== (found?.version ?? ""))
      throw Object.assign(new Error("conflict"), { code: "STORE_CONFLICT" });
    values.set(nameOf(key), { value, version: String(Number(found?.version ?? 0) + 1) });
    return values.get(nameOf(key)).version;
  },
  remove: async (key) => values.delete(nameOf(key)),
  list: async (prefix) =>
    [...values.keys()].map((name) => name.split("/")).filter(([first]) => first === prefix[0]),
  now: async () => Date.now(),
};
const machines = ["one", "two"].map((machine) => {
  mkdirSync(`${machine}/workspace`, { recursive: true });
  return createWorkspaceSync({
    store,
    blobs: createStoreBlobs(store),
    roots: [{ name: "workspace", folder: `${machine}/workspace` }],
    recordFile: `${machine}/shared-files.json`,
    limits: { maxFiles: 1_000, maxBytes: 1_000_000 },
  });
});
await machines[0].during(async () => writeFileSync("one/workspace/note.txt", "hello"));
await machines[1].fetch();
assert.equal(readFileSync("two/workspace/note.txt", "utf8"), "hello");
assert.equal(parseS3Url("s3://bucket/prefix", {}).bucket, "bucket");
await Promise.all(machines.map((one) => one.close()));
