import { library } from "../../tsup.base.ts";

export default library({
  entry: { index: "src/index.ts", "transformers-worker": "src/semantic/transformers-worker.ts" },
});
