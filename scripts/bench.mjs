// npm run bench [-- --quick]: sets up what is missing, then measures; prints tables and writes .cem/bench.json (--json FILE: there).
import { spawn } from "node:child_process";
import path from "node:path";
import { root } from "./node24.mjs";
import { say, setUp, SetupError } from "./setup.mjs";

try {
  const node = await setUp();
  const program = path.join(root, "scripts", "bench", "main.ts");
  const args = ["--expose-gc", "--conditions=@cem/source", program, ...process.argv.slice(2)];
  const child = spawn(node, args, { cwd: root, stdio: "inherit" });
  child.on("exit", (code) => (process.exitCode = code ?? 1));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  process.exitCode = 1;
}
