import { library } from "../../tsup.base.ts";

export default library({ entry: ["src/index.ts", "src/define-tool.ts", "src/recording.ts"] });
