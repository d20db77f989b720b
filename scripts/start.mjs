// npm start [-- arguments]: sets up what is missing, then runs `cem` with the arguments, or the main job.
import path from "node:path";
import { root } from "./node24.mjs";
import { runSource } from "./run-source.mjs";

const MAIN_JOB = ["run", "Calculate 5 + 3 and get weather for San Francisco"];
const given = process.argv.slice(2);
const command = path.join(root, "apps", "cli", "src", "cem.ts");
await runSource([command, ...(given.length > 0 ? given : MAIN_JOB)], "run");
