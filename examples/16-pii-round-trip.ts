// An address goes from one tool to another, and neither the model nor a log ever sees it.
import { createAgent, defineTool } from "code-execution-mcp";
import { z } from "zod";

const outbox: { to: string; text: string }[] = [];
const find_customer = defineTool({
  description: "Find a customer by number.",
  input: z.object({ number: z.number() }),
  output: z.object({ name: z.string(), email: z.string() }),
  annotations: { readOnlyHint: true },
  execute: () => ({ name: "Ada", email: "ada@example.com" }),
});
const send_mail = defineTool({
  description: "Send a mail.",
  input: z.object({ to: z.string(), text: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false },
  execute: (mail) => ({ sent: outbox.push(mail) }),
});

const agent = createAgent({
  // Code sees tokens too, not only the model.
  config: { privacy: { guest: "tokens" } },
  tools: { crm: { find_customer }, mail: { send_mail } },
});
const { value, output, error } = await agent.executeCode(`
import { find_customer } from "./servers/crm/index.ts";
import { send_mail } from "./servers/mail/index.ts";

const customer = await find_customer({ number: 7 });
console.log("The code sees", customer.email);
await send_mail({ to: customer.email, text: "Dear " + customer.name + ", welcome!" });
export default customer;
`);
if (error !== null) throw new Error(error.message);
console.log(output.trim());
console.log("The model sees", value);
console.log("The mail went to", outbox[0]?.to);
await agent.dispose();
