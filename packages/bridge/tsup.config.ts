import { library } from "../../tsup.base.ts";

/** What checks arguments is bundled into one file: it is 110, which take twice as long to load. */
export default library({
  entry: ["src/index.ts", "src/define-tool.ts"],
  noExternal: ["ajv", "ajv-formats", "re2js"],
});
