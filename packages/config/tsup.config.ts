import { writeFile } from "node:fs/promises";
import { library } from "../../tsup.base.ts";
import type * as Built from "./src/index.ts";

/** Zod and yaml are bundled: of their 167 files, little is needed. Zod's types are part of the declarations. */
export default library({
  entry: ["src/index.ts", "src/edit.ts", "src/definitions.ts", "src/yaml.ts"],
  noExternal: ["zod", "yaml"],
  async onSuccess() {
    const built = new URL("dist/index.js", import.meta.url);
    const { configJsonSchema } = (await import(built.href)) as typeof Built;
    await writeFile(
      new URL("dist/config.schema.json", import.meta.url),
      JSON.stringify(configJsonSchema(), null, 2),
    );
  },
});
