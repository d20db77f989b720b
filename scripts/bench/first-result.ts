// A process that does what a first `cem exec` does: makes an agent, runs a program, ends.
import { createAgent } from "code-execution-mcp";

const agent = createAgent({ cwd: process.argv[2] ?? ".", configFile: false });
const result = await agent.executeCode(
  'import { add } from "./servers/math/index.ts";\nexport default await add({ a: 5, b: 3 });',
);
await agent.dispose();
if (result.value !== 8) throw new Error(JSON.stringify(result));
