import { library } from "../../tsup.base.ts";

/** Yaml is bundled: of its files, little is needed. */
export default library({ noExternal: ["yaml"] });
