// Loops, conditions and errors are code: no round trip to a model for each.
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const inWords = await agent.executeTask(
  "Get weather for Cairo, and if the temperature is above 10, write 'light clothes' to packing.txt, otherwise write 'coat' to packing.txt",
);
console.log(inWords.code);
const { value: packing } = await agent.executeTask("Read packing.txt");
console.log("Packed:", packing);

// A task that asks for something no tool here can tell is refused before the first call, and not done by half.
const refused = await agent.executeTask(
  "Get weather for San Francisco, and if temperature is above 20, calculate how many days until summer",
);
console.log(`Refused after ${refused.toolCalls.length} calls: ${refused.error?.message}`);

const { value } = await agent.executeCode(`
import { get_weather } from "./servers/weather/index.ts";

const packed: Record<string, string> = {};
for (const location of ["Cairo", "Oslo", "Atlantis"]) {
  try {
    const { temperature } = await get_weather({ location, month: "July" });
    packed[location] = temperature > 25 ? "sunscreen" : "jacket";
  } catch (error) {
    packed[location] = "nothing: " + (error as Error).message.split(".")[0];
  }
}
export default packed;
`);
console.log(value);
await agent.dispose();
