// npm start [-- arguments]: sets up what is missing, then runs `cem` with the arguments, or the main job.
import { runCommand } from "./run-source.mjs";

const MAIN_JOB = ["run", "Calculate 5 + 3 and get weather for San Francisco"];
const given = process.argv.slice(2);
await runCommand(given.length > 0 ? given : MAIN_JOB);
