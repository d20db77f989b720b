import { library } from "../../tsup.base.ts";

const index = "src/index.ts";

export default library({ entry: { index, "state-format": "src/state-format.ts" }, typed: { index } });
