import { library } from "../../tsup.base.ts";

const index = "src/index.ts";

export default library({ entry: { index, "auto-export-work": "src/auto-export-work.ts" }, typed: { index } });
