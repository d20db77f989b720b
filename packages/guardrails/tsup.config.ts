import { library } from "../../tsup.base.ts";

export default library({
  entry: { index: "src/index.ts", calls: "src/calls/index.ts", audit: "src/audit/index.ts" },
});
