import { library } from "../../tsup.base.ts";

const index = "src/index.ts";

export default library({ entry: { index, "check-session": "src/check-session.ts" }, typed: { index } });
