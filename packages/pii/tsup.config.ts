import { library } from "../../tsup.base.ts";

const entry = ["src/index.ts", "src/names.ts", "src/vaults.ts"];

export default library({
  entry: [...entry, "src/large-kept-work.ts"],
  typed: entry,
  noExternal: ["libphonenumber-js", "stdnum"],
});
