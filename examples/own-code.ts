// An agent that stays: code of your own, progress as it happens, guests kept ready between runs.
// Run it from the root: npm run example examples/own-code.ts
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const code = `
import { get_weather, list_locations } from "./servers/weather/index.ts";

const cities = (await list_locations()).slice(0, 40);
const weather = await Promise.all(cities.map(({ name }) => get_weather({ location: name, month: "July" })));
export default weather.toSorted((a, b) => b.temperature - a.temperature).slice(0, 3).map(({ location }) => location);
`;
let calls = 0;
const result = await agent.executeCode(code, {
  onEvent: (event) => {
    if (event.type === "tool-called") calls += 1;
  },
});
console.log(`The warmest of 40 cities in July: ${JSON.stringify(result.value)}`);
console.log(`${calls} tool calls, ${result.contextTokens.saved} tokens kept out of context`);
await agent.dispose();
