// Ten thousand rows go into the code, five come out: the rest never reaches a model.
import { createAgent, defineTool } from "code-execution-mcp";

const REGIONS = ["North", "East", "South", "West"];
const list_orders = defineTool({
  description: "List all orders.",
  input: { type: "object", properties: {} },
  output: {
    type: "array",
    items: {
      type: "object",
      properties: { id: { type: "integer" }, region: { type: "string" }, total: { type: "number" } },
      required: ["id", "region", "total"],
    },
  },
  // It runs here, on the host; the code in the sandbox calls it like a tool that is a file.
  execute: () =>
    Array.from({ length: 10_000 }, (_, id) => ({
      id,
      region: REGIONS[id % REGIONS.length] ?? "",
      total: (id * 7_919) % 10_007,
    })),
});

const agent = createAgent({ tools: { shop: { list_orders } } });
const { value, output, error, contextTokens } = await agent.executeCode(`
import { list_orders } from "./servers/shop/index.ts";

const orders = await list_orders();
console.log(\`\${orders.length} rows in the sandbox\`);
export default orders
  .filter(({ region }) => region === "North")
  .toSorted((one, other) => other.total - one.total)
  .slice(0, 5);
`);
if (error !== null) throw new Error(error.message);
console.log(output.trim());
console.log(value);
console.log(`${contextTokens.used} tokens instead of ${contextTokens.direct}`);

// The same in words, of the sample database.
const inWords = await agent.executeTask(
  "Query database for users, filter for active users, and calculate statistics",
);
console.log(`Active users: ${JSON.stringify(inWords.value)}`);
await agent.dispose();
