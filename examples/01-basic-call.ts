// One tool, found among files: what is there, what fits the task, and the code that calls it.
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const { servers } = await agent.discoverTools();
const found = servers.filter(({ kind }) => kind !== "skill");
console.log(`Found: ${found.map(({ name, tools }) => `${name} (${tools.length})`).join(", ")}`);

const result = await agent.executeTask("Get weather for San Francisco");
console.log(`Selected: ${result.selectedTools.map(({ server, tool }) => `${server}.${tool}`).join(", ")}`);
console.log(result.code);
console.log(`Value: ${JSON.stringify(result.value)}`);
await agent.dispose();
