import { library } from "../../tsup.base.ts";

export default library({ entry: { index: "src/index.ts", contract: "src/contract.ts" } });
