// A plugin brings tools, a detector of personal values and a guard. Others name it in config.yaml: plugins: [./dice.ts].
import { createAgent, definePlugin, defineTool } from "code-execution-mcp";
import { z } from "zod";

const dice = definePlugin({
  specificationVersion: "v1",
  name: "dice",
  version: "1.0.0",
  setup: () => ({
    tools: {
      dice: {
        roll: defineTool({
          description: "Roll a die so many times.",
          input: z.object({ times: z.number().int().min(1).max(100) }),
          output: z.array(z.number()),
          annotations: { readOnlyHint: true },
          execute: ({ times }) => Array.from({ length: times }, (_, index) => 1 + ((index * 5) % 6)),
        }),
      },
    },
    detectors: [
      {
        type: "TABLE",
        find: (text: string) =>
          [...text.matchAll(/table-\d{4}/gu)].map(({ 0: found, index }) => ({
            start: index,
            end: index + found.length,
          })),
      },
    ],
  }),
});

const agent = createAgent({ plugins: [dice] });
const { value, output, error } = await agent.executeCode(`
import { roll } from "./servers/dice/index.ts";

console.log("Rolled at table-0042.");
const rolls = await roll({ times: 6 });
export default { rolls, total: rolls.reduce((sum, one) => sum + one, 0) };
`);
if (error !== null) throw new Error(error.message);
console.log(value);
console.log(output.trim());
await agent.dispose();
