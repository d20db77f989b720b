import { library } from "../../tsup.base.ts";

const entry = {
  index: "src/index.ts",
  "provider-kit": "src/provider-kit.ts",
  contract: "src/testing/contract/index.ts",
};

/** The guest runner is a file of its own: it runs in the guest and shares no code with the host. */
export default library({
  entry: { ...entry, "compile-work": "src/runs/compile-work.ts", "guest/boot": "src/guest/boot.ts" },
  // Bundled and tree-shaken: loading all of zod takes longer than booting a guest.
  noExternal: ["zod"],
  treeshake: true,
  typed: entry,
});
