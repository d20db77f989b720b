import { library } from "../../tsup.base.ts";

/** Of both libraries little is needed. Zod's types are part of the declarations. */
export default library({
  entry: { index: "src/index.ts", answers: "src/answers/index.ts" },
  noExternal: ["diff", "zod"],
});
