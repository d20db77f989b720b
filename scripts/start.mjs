// npm start [-- arguments]: sets up what is missing, then runs `cem` with the arguments, or the main job.
import { spawn } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { root } from "./node24.mjs";
import { compileCache, say, setUp, SetupError } from "./setup.mjs";

const MAIN_JOB = ["run", "Calculate 5 + 3 and get weather for San Francisco"];
const given = process.argv.slice(2);

try {
  const node = await setUp();
  const command = path.join(root, "apps", "cli", "src", "cem.ts");
  const args = ["--conditions=@cem/source", command, ...(given.length > 0 ? given : MAIN_JOB)];
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
  const child = spawn(node, args, { stdio: "inherit", env });
  // The command itself decides how to end on these; this process only waits for it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`The command could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (os.constants.signals[signal] ?? 1);
  });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  fail(error.message);
}

function fail(message) {
  say(`\n${message}`);
  process.exitCode = 1;
}
