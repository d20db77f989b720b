import { library } from "../../tsup.base.ts";

export default library({
  entry: {
    index: "src/index.ts",
    stages: "src/stages.ts",
    admin: "src/admin.ts",
    "server-thread": "src/server-thread/thread.ts",
  },
});
