import { library } from "../../tsup.base.ts";

export default library({
  entry: { index: "src/index.ts", host: "src/host-virtualization.ts", server: "src/server/index.ts" },
  // Bundled and tree-shaken: the few checks of the server's answers need little of it.
  noExternal: ["zod"],
  treeshake: true,
});
