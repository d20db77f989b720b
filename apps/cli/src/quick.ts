// What cem run, exec and call need, in one file once it is built: see tsup.config.ts.
export { main } from "./main.ts";
