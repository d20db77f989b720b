// The simplest use: a task in words goes in, a value comes out.
import { createAgent, executeTask } from "code-execution-mcp";

// One task: everything is set up for it and taken down after it.
const { value, error } = await executeTask("Calculate 5 + 3");
if (error !== null) throw new Error(error.message);
console.log(`5 + 3 is ${JSON.stringify(value)}`);

// Several tasks: an agent stays, with its catalog read and a sandbox ready.
const agent = createAgent();
for (const task of ["Calculate 10 * 5", "Get weather for San Francisco"]) {
  const result = await agent.executeTask(task);
  console.log(`${task}: ${JSON.stringify(result.value)}`);
}
await agent.dispose();
