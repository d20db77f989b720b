import { library } from "../../tsup.base.ts";

/** Zod and yaml are bundled: of their 167 files, little is needed. */
export default library({
  entry: ["src/index.ts", "src/read-tool-source.ts"],
  noExternal: ["zod", "yaml"],
});
