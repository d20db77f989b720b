// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createFolderStore, parseSealingKeys, scopeStore, sealStore } from "@cem/store";

const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
const store = sealStore(createFolderStore({ folder: "shared" }), keys);
const customer = scopeStore(store, "customers", "ada");
await customer.write(["state"], Buffer.from("1"), { version: "" });
await assert.rejects(customer.write(["state"], Buffer.from("2"), { version: "" }), {
  code: "STORE_CONFLICT",
});
assert.deepEqual(await store.list([]), [["customers", "ada", "state"]]);
assert.equal(await customer.add(["runs"], 2), 2);
await store.close();
