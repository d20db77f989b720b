// A process that does what a first `cem exec` does: makes an agent, runs a program, ends. The second argument says
// whether types are checked before.
import { createAgent } from "code-execution-mcp";

const [, , cwd = ".", check] = process.argv;
const agent = createAgent({ cwd, configFile: false });
const result = await agent.executeCode(
  'import { add } from "./servers/math/index.ts";\nexport default await add({ a: 5, b: 3 });',
  { typeCheck: check === "off" ? "off" : "before" },
);
await agent.dispose();
if (result.value !== 8) throw new Error(JSON.stringify(result));
