import { library } from "../../tsup.base.ts";

export default library({ entry: { rules: "src/rules/index.ts", llm: "src/llm/index.ts" } });
