import { library } from "../../tsup.base.ts";

const ROOMS = ["errors", "files", "telemetry", "text", "tokens"];

/** Bundled: the libraries are smaller than loading a file costs. */
export default library({
  entry: {
    index: "src/index.ts",
    ...Object.fromEntries(ROOMS.map((room) => [`${room}/index`, `src/${room}/index.ts`])),
  },
  noExternal: ["fastest-levenshtein", "stemmer"],
});
