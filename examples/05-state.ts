// State outlives a run: what one sandbox writes to /workspace, the next one reads.
import { open } from "./open.ts";

const first = await open();
const saved = await first.executeTask(
  'Calculate 5 + 3, then save the result to /workspace/state.json with step: 1 and message: "Saved in session 1"',
);
console.log(`Session 1 saved ${JSON.stringify(saved)}`);
await first.dispose(); // The sandbox is gone; the file is not.

const second = await open();
await second.executeTask(
  "Read the state from /workspace/state.json. Calculate the next step (result + 1) and save it back to /workspace/state.json with step: 2.",
);
console.log("Session 2 has", await second.executeTask("Read /workspace/state.json"));
await second.dispose();
