import { library } from "../../tsup.base.ts";

/** The guest runner is a file of its own, which runs in the guest and shares nothing with the host's side. */
export default library({
  entry: { index: "src/index.ts", contract: "src/contract/index.ts", "guest/boot": "src/guest/boot.ts" },
  // Of zod only the little that is used: the whole takes longer to load than a guest to boot.
  noExternal: ["zod"],
  treeshake: true,
  // Deno knows Node's modules by their whole names only.
  removeNodeProtocol: false,
  dts: { entry: { index: "src/index.ts", contract: "src/contract/index.ts" } },
});
