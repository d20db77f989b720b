import { library } from "../../tsup.base.ts";

export default library({
  entry: {
    index: "src/index.ts",
    stages: "src/stages.ts",
    admin: "src/admin.ts",
    "define-plugin": "src/plugins/define-plugin.ts",
    "work-thread": "src/work-threads/work-thread.ts",
    "review-work": "src/work-threads/review-work.ts",
  },
});
