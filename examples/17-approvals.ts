// A dry run lists what code would change; a rule of your own says what needs a person's yes, and what nobody may allow.
import { createAgent, defineTool } from "code-execution-mcp";
import type { CallRule } from "code-execution-mcp";
import { z } from "zod";

let paid = 0;
const refund = defineTool({
  description: "Pay money back for an order.",
  input: z.object({ order: z.number(), amount: z.number() }),
  annotations: { destructiveHint: true },
  execute: ({ amount }) => {
    paid += amount;
    return { paid };
  },
});
const tools = { shop: { refund } };
const pay = (amount: number) => `
import { refund } from "./servers/shop/index.ts";
export default await refund({ order: 1, amount: ${amount} });
`;

const dry = createAgent({
  tools,
  onPlannedWrite: ({ server, tool, args }) => console.log(`Would call ${server}.${tool}`, args),
});
await dry.executeCode(pay(200));
await dry.dispose();
console.log(`Paid so far: ${paid}`);

const bySize: CallRule = ({ args }) => {
  const { amount } = args as { amount: number };
  if (amount > 1_000) return "More than 1,000 is paid by hand.";
  return amount < 100 || { ask: "100 or more" };
};
const agent = createAgent({
  tools,
  rules: [bySize],
  config: { guardrails: { approvals: [] } }, // The rule decides, not the tool's annotation.
  onApprove: ({ tool, reason }) => {
    console.log(`${tool}? ${reason}`);
    return Promise.resolve("once"); // A person answers here: "once", "session" or "no".
  },
});
for (const amount of [20, 200, 2_000]) {
  const { status, error } = await agent.executeCode(pay(amount));
  console.log(`${amount}: ${error?.message ?? status}`);
}
console.log(`Paid in all: ${paid}`);
await agent.dispose();
