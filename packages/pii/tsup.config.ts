import { library } from "../../tsup.base.ts";

export default library({
  entry: ["src/index.ts", "src/names.ts", "src/shared-vaults.ts", "src/vault-file.ts"],
  noExternal: ["libphonenumber-js", "stdnum"],
});
