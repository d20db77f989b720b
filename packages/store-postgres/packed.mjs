// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createPostgresStore } from "@cem/store-postgres";

// Nothing listens there: what it says needs the driver, and keeps the password to itself.
const store = createPostgresStore({ url: "postgresql://cem:secret@127.0.0.1:1/cem" });
await assert.rejects(
  store.read(["greeting"]),
  ({ code, message }) => code === "STORE_UNAVAILABLE" && !message.includes("secret"),
);
await store.close();
