// A workflow in three sessions, each an agent of its own: the state says where the next one begins.
import { open } from "./open.ts";

const SESSIONS = [
  `Create /workspace/workflow_state.json with: - workflow_id: "calc_001" - current_step: 1 - total_steps: 3 - results: [] - status: "in_progress"
Then calculate 10 * 5 and add the result to the results array. Update current_step to 2. Save the state.`,
  "Read /workspace/workflow_state.json. Calculate 20 * 3 and add the result to the results array. Update current_step to 3. Save the updated state.",
  `Read /workspace/workflow_state.json. Calculate 15 * 4 and add the result to the results array. Calculate the sum of all results. Add a "total" field with the sum. Update current_step to 4. Update status to "completed". Save the final state.`,
];

for (const [index, task] of SESSIONS.entries()) {
  const agent = await open();
  await agent.executeTask(task);
  const state = await agent.executeTask("Read /workspace/workflow_state.json");
  console.log(`Session ${index + 1}: ${JSON.stringify(state)}`);
  await agent.dispose();
}
