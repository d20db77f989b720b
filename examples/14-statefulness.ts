// State over MCP: get_state and save_state, seen by code and by every later client.
import { connect } from "./open.ts";

const call = async (
  client: Awaited<ReturnType<typeof connect>>,
  name: string,
  args: object,
): Promise<unknown> => {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: { ...args } });
  if (isError === true) throw new Error(JSON.stringify(content));
  return structuredContent;
};
const state_file = "workflow_state.json";

const first = await connect();
await call(first, "save_state", {
  state_file,
  state_data: {
    workflow_id: "wf_stateful_001",
    current_step: 0,
    total_steps: 3,
    results: [],
    status: "initialized",
  },
});
await call(first, "execute_task", {
  task_description: `
    Read /workspace/workflow_state.json.
    Calculate 10 * 5 = 50.
    Add the result to the results array.
    Update current_step to 1.
    Save the updated state.
  `,
});
console.log("First client:", JSON.stringify(await call(first, "get_state", { state_file })));
await first.close(); // Over stdio its server ends with it.

const second = await connect();
const code = `
const state = JSON.parse(await Deno.readTextFile("${state_file}")); // The same state is a file of the workspace.
state.results.push(20 * 3);
state.total = state.results.reduce((sum: number, one: number) => sum + one, 0);
await Deno.writeTextFile("${state_file}", JSON.stringify({ ...state, current_step: 2 }));
`;
await call(second, "execute_code", { code });
console.log("Second client:", JSON.stringify(await call(second, "get_state", { state_file })));
console.log("Another file:", JSON.stringify(await call(second, "get_state", { state_file: "none.json" })));
await second.close();
