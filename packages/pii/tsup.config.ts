import { library } from "../../tsup.base.ts";

export default library({
  entry: ["src/index.ts", "src/names.ts", "src/vaults.ts"],
  noExternal: ["libphonenumber-js", "stdnum"],
});
