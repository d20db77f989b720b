// A form takes what is known from a tool, asks for the rest, checks it, and hands it to the tool that keeps members.
import { fillForm, parseForm } from "@cem/forms";

const form = parseForm(`
name: membership
fields:
  - { name: name, required: true }
  - { name: email, type: email, required: true, pii: EMAIL }
  - { name: plan, type: radio, options: [free, team], required: true }
  - { name: seats, type: integer, min: 2, required: true, when: { field: plan, equals: team } }
sources:
  - tool: crm.find_customer
    arguments: { number: 7 }
    values: { name: name, email: contact.email }
target: { type: tool, tool: club.add_member }
`);

// Any tools will do: of an agent, of an MCP server, or functions like these.
const members: unknown[] = [];
const tools: Record<string, (args: unknown) => object> = {
  "crm.find_customer": () => ({ name: "Ada", contact: { email: "ada@example.com" } }),
  "club.add_member": (member) => ({ members: members.push(member) }),
};
const callTool = ({ server, tool, args }: { server: string; tool: string; args: unknown }) =>
  Promise.resolve(JSON.parse(JSON.stringify(tools[`${server}.${tool}`]?.(args))));

const tooFew = await fillForm(form, { data: { plan: "team", seats: 1 }, callTool });
console.log(tooFew.status, tooFew.problems);

const { status, values } = await fillForm(form, {
  data: { plan: "team" },
  callTool,
  ask: ({ message }) => {
    console.log(message);
    return Promise.resolve({ action: "accept", content: { seats: 5 } }); // A person answers here.
  },
});
console.log(status, values);
console.log("The club has", members);
