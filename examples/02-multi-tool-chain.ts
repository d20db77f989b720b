// Several tools in one run: what the first returns goes into the second without passing through a model.
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const { value, code, contextTokens } = await agent.executeTask(
  "Calculate 10 * 5, then get weather for that many cities starting with San Francisco",
);
console.log(code);
const cities = value as { location: string; temperature: number }[];
for (const { location, temperature } of cities) console.log(`${location}: ${temperature} °C`);
console.log(`${contextTokens.used} tokens instead of ${contextTokens.direct}`);
await agent.dispose();
