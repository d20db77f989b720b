import { library } from "../../tsup.base.ts";

export default library({
  entry: ["src/index.ts", "src/openai.ts", "src/openai-agents.ts", "src/langchain.ts", "src/mastra.ts"],
});
