import { library } from "../../tsup.base.ts";

/** Bundled: of gpt-tokenizer's 30 MB one pattern is needed, and of flatqueue all of its 3 KB. */
export default library({ noExternal: ["gpt-tokenizer", "flatqueue"] });
