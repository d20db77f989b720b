// Settings as code: the same that config.yaml has, in camelCase, checked when they are read.
import { CemError, createAgent, loadConfig } from "code-execution-mcp";

const config = {
  execution: { workspaceDir: "./my-workspace" },
  guardrails: { maxExecutionTime: 10 },
  llm: { enabled: false }, // true: a model writes the code, with llm.provider, llm.model and its key
};
const { config: checked } = await loadConfig({ configFile: false, config });
console.log(`Runs end after ${checked.guardrails.maxExecutionTime} s`);
console.log(`As nothing says otherwise, they have ${checked.guardrails.maxMemoryMb} MiB`);

const agent = createAgent({ configFile: false, config });
console.log(`5 + 3 is ${JSON.stringify((await agent.executeTask("Calculate 5 + 3")).value)}`);
const { status, error } = await agent.executeCode("while (true) {}", { limits: { timeoutMs: 200 } });
console.log(`${status}: ${error?.code}`); // A limit of one run is an option of the run.
await agent.dispose();

// A setting that does not exist is named, with the one that was meant.
try {
  await loadConfig({ configFile: false, config: { guardrails: { maxExecutionTme: 10 } as object } });
} catch (error) {
  if (!CemError.isInstance(error)) throw error;
  console.log(`${error.code}: ${error.message}`);
}
