import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

// Runs every test with random inputs with many of them: pnpm fuzz [inputs for each test]
const [runs = "5000"] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, "..");
let failed = false;
for (const name of readdirSync(path.join(root, "packages"))) {
  const folder = path.join(root, "packages", name);
  const files = readdirSync(path.join(folder, "src"), { recursive: true, encoding: "utf8" });
  if (!files.some((file) => file.includes(".fuzz."))) continue;
  const env = { ...process.env, CEM_FUZZ_RUNS: runs, CEM_TESTS: "long" };
  const { status } = spawnSync("vitest", ["run", ".fuzz."], { cwd: folder, env, stdio: "inherit" });
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
