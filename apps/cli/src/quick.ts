// The modules of cem run, exec and call, in one file once it is built: see tsup.config.ts.
export { main } from "./main.ts";
