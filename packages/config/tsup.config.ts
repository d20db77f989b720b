import { library } from "../../tsup.base.ts";

/** Zod and yaml are bundled: of their 167 files, little is needed. Zod's types are part of the declarations. */
export default library({
  entry: ["src/index.ts", "src/edit.ts", "src/yaml.ts"],
  noExternal: ["zod", "yaml"],
});
