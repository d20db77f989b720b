import { library } from "../../tsup.base.ts";

/** Bundled: who migrates once needs none of them afterwards. */
export default library({ noExternal: ["@lezer/python", "diff", "yaml"] });
