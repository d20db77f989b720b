import { library } from "../../tsup.base.ts";

/** Zod and yaml are bundled: of their 167 files, little is needed. */
export default library({ noExternal: ["zod", "yaml"] });
