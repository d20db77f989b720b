import { library } from "../../tsup.base.ts";

export default library({
  entry: { index: "src/index.ts", console: "src/console/index.ts", "custom-tool": "src/custom-tool.ts" },
});
