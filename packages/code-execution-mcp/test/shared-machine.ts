/**
 * A machine of its own: a process with folders of its own, which shares a store with others. Reads requests from standard
 * input, a JSON object a line: `{ code, session }`. Answers each with a line.
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { toErrorInfo } from "@cem/core";
import { createAgent, defineTool } from "../src/index.ts";

const folder = process.argv[2] ?? "";
const url = process.argv[3] ?? "";
const keys = process.argv[4] ?? "";
mkdirSync(path.join(folder, "servers"), { recursive: true });

let asked = 0;
const removes = { destructiveHint: true };
const agent = createAgent({
  cwd: folder,
  configFile: false,
  customer: "ada",
  config: {
    store: { url, keys },
    customers: { quotas: [{ per: "day", runs: 8 }] },
    optimizations: { sandboxPooling: false },
  },
  tools: {
    crm: {
      find: defineTool({
        description: "Finds.",
        input: {},
        execute: async () => ({ email: "ada@example.com" }),
      }),
      is_ada: defineTool({
        description: "Tells whether it is Ada's address.",
        input: { type: "object", properties: { email: { type: "string" } }, required: ["email"] },
        execute: async ({ email }) => email === "ada@example.com",
      }),
      remove: defineTool({
        description: "Removes.",
        input: {},
        annotations: removes,
        execute: async () => "removed",
      }),
    },
  },
  async onApprove() {
    asked += 1;
    return "session";
  },
});

for await (const line of createInterface({ input: process.stdin })) {
  const { code, session } = JSON.parse(line) as { code: string; session: string };
  const answer = await agent.executeCode(code, { session }).then(
    ({ value, error }) => ({ value, error: error?.code, asked }),
    (thrown: unknown) => ({ error: toErrorInfo(thrown).code, asked }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await agent.dispose();
