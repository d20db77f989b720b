import { library } from "../../tsup.base.ts";

export default library({ entry: { cem: "src/cem.ts" }, splitting: true, dts: false });
