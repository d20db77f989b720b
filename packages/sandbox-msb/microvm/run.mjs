// Programs that the build starts, several at once.
import { spawn } from "node:child_process";
import { SetupError } from "../../../scripts/setup.mjs";

/** Runs a program; resolves with what it printed. */
export function run(command, args, { cwd, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let said = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (said += text));
    const fail = (why) =>
      reject(new SetupError(`${command} ${args.join(" ")} failed: ${why}\n${output}${said}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => (code === 0 ? resolve(output) : fail(`exit code ${code}`)));
  });
}
