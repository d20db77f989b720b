import { library } from "../../tsup.base.ts";

export default library({ entry: ["src/index.ts", "src/forwarding-front.ts", "src/custom-tool.ts"] });
