import { library } from "../../tsup.base.ts";

const index = "src/index.ts";

export default library({ entry: { index, "as-meant-work": "src/as-meant-work.ts" }, typed: { index } });
