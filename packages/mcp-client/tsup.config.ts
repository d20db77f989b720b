import { library } from "../../tsup.base.ts";

/** The SDK is bundled: it and zod are 130 files, of which a client needs two thirds of neither. */
export default library({
  entry: ["src/index.ts", "src/tools/index.ts"],
  noExternal: ["@modelcontextprotocol/client", "zod"],
});
