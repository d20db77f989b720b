// npm run bench [-- --quick] [--only NAME] [--json FILE] [--isolated-vm FOLDER] [--packages FOLDER]: builds the packages as
// users get them, then measures. Prints tables and writes the figures to .cem/bench.json. With a folder that has isolated-vm
// installed, that is measured beside ours; new processes load the packages that are installed in the folder of --packages.
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./node24.mjs";
import { bin, say, setUp, SetupError, toolEnvironment } from "./setup.mjs";

try {
  const node = await setUp();
  say("Building the packages …");
  const build = spawnSync(bin("turbo"), ["run", "build", "--output-logs=errors-only"], {
    cwd: root,
    env: toolEnvironment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (build.status !== 0) throw new SetupError("The build failed. Run: npx pnpm@12.18.0 build");
  const program = path.join(root, "scripts", "bench", "main.ts");
  const child = spawn(node, ["--expose-gc", program, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  child.on("exit", (code) => (process.exitCode = code ?? 1));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  process.exitCode = 1;
}
