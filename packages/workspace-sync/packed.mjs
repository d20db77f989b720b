// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createFolderStore } from "@cem/store";
import { createStoreBlobs, createWorkspaceSync, parseS3Url } from "@cem/workspace-sync";

const store = createFolderStore({ folder: "shared" });
const [one, two] = ["one", "two"].map((machine) => {
  mkdirSync(`${machine}/workspace`, { recursive: true });
  return createWorkspaceSync({
    store,
    blobs: createStoreBlobs(store),
    roots: [{ name: "workspace", folder: `${machine}/workspace` }],
    recordFile: `${machine}/shared-files.json`,
    limits: { maxFiles: 1_000, maxBytes: 1_000_000 },
  });
});
await one.during(async () => writeFileSync("one/workspace/note.txt", "hello"));
await two.fetch();
assert.equal(readFileSync("two/workspace/note.txt", "utf8"), "hello");
assert.equal(parseS3Url("s3://bucket/prefix", {}).bucket, "bucket");
await Promise.all([one.close(), two.close()]);
await store.close();
