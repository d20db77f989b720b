import { library } from "../../tsup.base.ts";

const ROOMS = ["errors", "files", "telemetry", "text", "tokens"];

/** Bundled: of gpt-tokenizer's 30 MB one pattern is needed, and the other libraries are smaller than a file's loading costs. */
export default library({
  entry: {
    index: "src/index.ts",
    ...Object.fromEntries(ROOMS.map((room) => [`${room}/index`, `src/${room}/index.ts`])),
  },
  noExternal: ["fastest-levenshtein", "flatqueue", "gpt-tokenizer", "stemmer"],
});
