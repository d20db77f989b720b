// npm test: sets up what is missing, then runs every check and ends with a line that counts them.
// Each check outside the test runner counts as one; the tests count one by one.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root } from "./node24.mjs";
import { bin, say, setUp, SetupError, toolEnvironment } from "./setup.mjs";

const REPORT = path.join(root, ".cem", "vitest.json");

const CHECKS = [
  {
    name: "format",
    does: "formatting (oxfmt)",
    command: "oxfmt",
    args: ["--check", "."],
    fix: "npx pnpm@12.18.0 format",
  },
  {
    name: "lint",
    does: "lint, with types (oxlint)",
    command: "oxlint",
    args: ["--type-aware", "--deny-warnings"],
  },
  { name: "types", does: "types (TypeScript)", command: "tsc", args: ["--noEmit"] },
  { name: "unused", does: "unused code and dependencies (knip)", command: "knip", args: [] },
  {
    name: "build",
    does: "build of every package (tsup)",
    command: "turbo",
    args: ["run", "build", "--output-logs=errors-only"],
  },
  {
    name: "packed",
    does: "packed packages: their shape (publint, are-the-types-wrong), their use in an empty folder",
    command: "node",
    args: ["scripts/check-packed.mjs"],
  },
];

const count = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

try {
  await setUp();
  say("Checks:");
  for (const check of CHECKS) await runCheck(check);
  say("Tests (vitest):");
  await runTests();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  count.failed += 1;
}
summary();

async function runCheck({ name, does, command, args, fix }) {
  const started = Date.now();
  const { code, output } = await run(command, args, "collect");
  const passed = code === 0;
  count[passed ? "passed" : "failed"] += 1;
  say(`  ${passed ? "ok    " : "FAILED"}  ${does}, ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (passed) return;
  say(output.trimEnd());
  failures.push(fix === undefined ? name : `${name} (${fix} mends it)`);
}

async function runTests() {
  mkdirSync(path.dirname(REPORT), { recursive: true });
  rmSync(REPORT, { force: true });
  const { code } = await run(
    "vitest",
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`],
    "show",
  );
  let report;
  try {
    report = JSON.parse(readFileSync(REPORT, "utf8"));
  } catch {
    count.failed += 1;
    failures.push("tests (vitest ended without a report)");
    return;
  }
  count.passed += report.numPassedTests;
  count.failed += report.numFailedTests;
  count.skipped += report.numPendingTests;
  // A file that can't even be loaded, or an error outside any test, fails the run without failing a test.
  if (code !== 0 && report.numFailedTests === 0) count.failed += 1;
  if (code !== 0) failures.push("tests");
}

function run(command, args, output) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin(command), args, {
      cwd: root,
      env: toolEnvironment(),
      stdio: ["ignore", output === "show" ? "inherit" : "pipe", output === "show" ? "inherit" : "pipe"],
      shell: process.platform === "win32",
    });
    let text = "";
    child.stdout?.on("data", (data) => (text += data));
    child.stderr?.on("data", (data) => (text += data));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: text }));
  });
}

function summary() {
  if (failures.length > 0) say(`\nFailed: ${failures.join(", ")}`);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
