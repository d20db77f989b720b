import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

// Runs every test with random inputs with many of them, and the programs that look for a way out of their realm for
// CEM_FUZZ_SECONDS (20): pnpm fuzz [inputs for each test]. Counts what was tried.
const [runs = "5000"] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, "..");
const report = path.join(tmpdir(), `cem-fuzz-${process.pid}.json`);
let failed = false;
let tests = 0;
for (const name of readdirSync(path.join(root, "packages"))) {
  const folder = path.join(root, "packages", name);
  const files = readdirSync(path.join(folder, "src"), { recursive: true, encoding: "utf8" });
  if (!files.some((file) => file.includes("fuzz."))) continue;
  const env = { ...process.env, CEM_FUZZ_RUNS: runs, CEM_TESTS: "long" };
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { status } = spawnSync("vitest", ["run", "fuzz.", ...reporters], {
    cwd: folder,
    env,
    stdio: "inherit",
  });
  failed ||= status !== 0;
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  for (const { name: file, assertionResults } of testResults)
    if (file.includes(".fuzz.")) tests += assertionResults.filter((one) => one.status === "passed").length;
}
rmSync(report, { force: true });
process.stdout.write(`${tests} tests held with ${runs} inputs each: ${tests * Number(runs)} inputs.\n`);
process.exit(failed ? 1 : 0);
