// npm run example <file>: sets up what is missing, then runs the file from the sources.
import { spawn } from "node:child_process";
import os from "node:os";
import { compileCache, say, setUp, SetupError } from "./setup.mjs";

const [file, ...rest] = process.argv.slice(2);

try {
  if (file === undefined) throw new SetupError("Say which: npm run example examples/00-simple-api.ts");
  const node = await setUp();
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
  const child = spawn(node, ["--conditions=@cem/source", file, ...rest], { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (os.constants.signals[signal] ?? 1);
  });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  process.exitCode = 1;
}
