// The parser of source files, loaded lazily: a process whose files are all cached never needs it.
export { readModule } from "./read-module.ts";
export { parseSourceModule } from "../source/source-module.ts";
