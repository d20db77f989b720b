// Loops, conditions and errors are code: no round trip to a model for each.
import { createAgent } from "code-execution-mcp";

const agent = createAgent();
const inWords = await agent.executeTask(
  "Get weather for Cairo, and if the temperature is above 10, write 'light clothes' to packing.txt, otherwise write 'coat' to packing.txt",
);
console.log(inWords.code);
const { value: packing } = await agent.executeTask("Read packing.txt");
console.log("Packed:", packing);

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
