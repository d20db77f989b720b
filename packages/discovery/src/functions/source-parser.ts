// What reads source files. A process whose files are all in the cache does without it.
export { readModule } from "./read-module.ts";
export { parseSourceModule } from "../source/source-module.ts";
