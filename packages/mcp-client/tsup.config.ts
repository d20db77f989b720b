import { library } from "../../tsup.base.ts";

const entry = { index: "src/index.ts", "tools/index": "src/tools/index.ts" };

/** The SDK is bundled: it and zod are 130 files, of which a client needs two thirds of neither. */
export default library({
  entry: { ...entry, "large-answer-work": "src/results/large-answer-work.ts" },
  typed: entry,
  noExternal: ["@modelcontextprotocol/client", "zod"],
});
