// State outlives a run: what one sandbox writes to /workspace, the next one reads.
import { open } from "./open.ts";

const FIRST = `
Calculate 5 + 3, then save the result and metadata to /workspace/state.json.
The JSON file should contain:
- calculation: "5 + 3"
- result: 8
- step: 1
- message: "State saved in session 1"

Also verify that /workspace exists and is mounted.
Print a confirmation message when state is saved.
`;
const SECOND = `
Read the state from /workspace/state.json that was saved in a previous session.
Print the contents of the file.
Verify that /workspace exists and is mounted.
Confirm that you can read the state file from the previous session.
Calculate the next step (result + 1) and save it back to /workspace/state.json with step: 2.
`;

const first = await open();
console.log(`Session 1 saved ${JSON.stringify(await first.executeTask(FIRST))}`);
await first.dispose(); // The sandbox is gone; the file is not.

const second = await open();
await second.executeTask(SECOND);
console.log(`Session 2 has ${JSON.stringify(await second.executeTask("Read /workspace/state.json"))}`);
await second.dispose();
