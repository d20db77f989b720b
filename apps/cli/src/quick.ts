// The modules of cem run, exec and call, bundled into one file by the build: see tsup.config.ts.
export { main } from "./main.ts";
