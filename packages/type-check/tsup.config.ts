import { library } from "../../tsup.base.ts";

/** The worker is a file of its own, which is loaded in a thread. */
export default library({
  entry: { index: "src/index.ts", worker: "src/worker.ts" },
  dts: { entry: { index: "src/index.ts" } },
});
