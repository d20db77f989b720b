import { library } from "../../tsup.base.ts";

/** The two small libraries are bundled: loading a file costs more than what is in them. */
export default library({ noExternal: ["fastest-levenshtein", "stemmer"] });
