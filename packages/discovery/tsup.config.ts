import { library } from "../../tsup.base.ts";

/** Of yaml's files, little is needed: they are bundled. */
export default library({
  entry: ["src/index.ts"],
  noExternal: ["yaml"],
});
