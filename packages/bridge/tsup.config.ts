import { library } from "../../tsup.base.ts";

/** The validation of arguments is bundled into one file: its 110 files take twice as long to load. */
export default library({
  entry: ["src/index.ts", "src/define-tool.ts"],
  noExternal: ["ajv", "ajv-formats", "re2js"],
});
