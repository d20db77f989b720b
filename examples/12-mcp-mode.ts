// The same lines against an agent in this process and against a server. MCP_MODE=true does it for the other examples.
import { open } from "./open.ts";

const task = "Calculate 5 + 3";
const values: unknown[] = [];
for (const mode of ["direct", "mcp"] as const) {
  const agent = await open(mode);
  values.push(await agent.executeTask(task));
  console.log(`${mode}: ${JSON.stringify(values.at(-1))}`);
  await agent.dispose();
}
const [direct, overMcp] = values.map((value) => JSON.stringify(value));
console.log(direct === overMcp ? "Both gave the same." : "They differ.");
