import { library } from "../../tsup.base.ts";

const index = "src/index.ts";

export default library({ entry: { index, "check-work": "src/check-work.ts" }, typed: { index } });
