// A workflow in three sessions, each an agent of its own: the state says where the next one begins.
import { open } from "./open.ts";

const SESSIONS = [
  `
  Initialize a calculation workflow:
  1. Create /workspace/workflow_state.json with:
     - workflow_id: "calc_001"
     - current_step: 1
     - total_steps: 3
     - results: []
     - status: "in_progress"
  2. Calculate 10 * 5 and add the result to the results array
  3. Update current_step to 2
  4. Verify /workspace exists and is mounted
  5. Print confirmation that workflow state was initialized
  `,
  `
  Continue the workflow from the previous session:
  1. Read /workspace/workflow_state.json
  2. Print the current state (workflow_id, current_step, results)
  3. Calculate 20 * 3 and add the result to the results array
  4. Update current_step to 3
  5. Verify you can read the state from the previous session
  6. Print confirmation that workflow continued
  `,
  `
  Complete the workflow:
  1. Read /workspace/workflow_state.json
  2. Print the current state (workflow_id, current_step, all results)
  3. Calculate 15 * 4 and add the result to the results array
  4. Calculate the sum of all results in the results array
  5. Update current_step to 4 (completed)
  6. Update status to "completed"
  7. Add a "total" field with the sum of all results
  8. Print a summary of the completed workflow
  `,
];

for (const [index, task] of SESSIONS.entries()) {
  const agent = await open();
  await agent.executeTask(task);
  const state = await agent.executeTask("Read /workspace/workflow_state.json");
  console.log(`Session ${index + 1}: ${JSON.stringify(state)}`);
  await agent.dispose();
}
