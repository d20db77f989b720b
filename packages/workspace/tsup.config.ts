import { library } from "../../tsup.base.ts";

const typed = { index: "src/index.ts", "sync/index": "src/sync/index.ts" };

/** Bundled: two small libraries of the entry `sync`, which no other entry needs. */
export default library({
  entry: { ...typed, "state-format": "src/state/state-format.ts" },
  typed,
  noExternal: ["aws4fetch", "p-map"],
});
