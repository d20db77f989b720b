import { library } from "../../tsup.base.ts";

/** Zod and re2js are bundled: of their files, little is needed. */
export default library({
  entry: ["src/index.ts", "src/pdf/index.ts", "src/web/index.ts", "src/step-kind.ts"],
  noExternal: ["zod", "re2js"],
});
