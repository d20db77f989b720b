// npm test: sets up what is missing, then runs the tests and ends with a line that counts them.
// npm run test:packed: the same for the packages as they are published, which takes a build of each.
// npm run test:more: lint and types, which take a fifth of the processor's time of the first; the tests that take too long for it,
// and those that need, or use where it is there, a program beyond Node.
// Turbo runs the checks and the tests of each package, beside each other, and only those that a change concerns.
// Each check outside the test runner counts as one; the tests count one by one.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { hostFacts } from "./host-facts.mjs";
import { root } from "./node24.mjs";
import { findMoreTests } from "./more-tests.mjs";
import { bin, say, setUp, SetupError, toolEnvironment } from "./setup.mjs";

const RUNS = path.join(root, ".turbo", "runs");
const REPORT = path.join(".cem", "vitest.json");

/** Checks that are no tests, by turbo's name of the task. Tasks of one name count as one check. */
const SOURCE_CHECKS = {
  "format:check": { does: "formatting (oxfmt)", fix: "npx pnpm@12.18.0 format" },
};
const MORE_CHECKS = {
  lint: { does: "lint and types (oxlint, TypeScript)" },
  knip: { does: "unused code and dependencies (knip)" },
};
const PACKED_CHECKS = {
  build: { does: "build of every package (tsup)" },
  packed: {
    does: "packed packages: their shape (publint, are-the-types-wrong), their use in an empty folder",
  },
};
/**
 * Turbo begins with the packages that others need. `longest` are half of the tests by their time: so many of them as `atOnce`
 * says are run at a time, and beside them so many of the others as `beside` says, until the end.
 */
const MODES = {
  sources: {
    checks: SOURCE_CHECKS,
    tests: ["test", "test:repository"],
    env: { CEM_TEST_TOOLS: "none" },
    longest: [
      "code-execution-mcp",
      "@cem/cli",
      "@cem/mcp-server",
      "@cem/mcp-client",
      "@cem/workspace",
      "@cem/type-check",
    ],
    atOnce: 2,
    beside: 2,
  },
  packed: { checks: PACKED_CHECKS, tests: [] },
  more: {
    checks: MORE_CHECKS,
    tests: ["test"],
    env: { CEM_TESTS: "more" },
    longest: ["code-execution-mcp", "@cem/cli", "@cem/sandbox-deno"],
    atOnce: 2,
    beside: 4,
  },
};
const mode = process.argv[2] ?? "sources";
const { checks: CHECKS, tests, env = {}, longest = [], atOnce, beside } = MODES[mode];
const TESTS = new Set(tests);
/** Tasks of the root: they look at all packages at once. */
const ROOT_ONLY = new Set(["knip", "lint"]);

const count = { passed: 0, failed: 0, skipped: 0 };
/** Counts of skipped tests, by the programs that they need and this machine lacks. */
const lacking = new Map();
const failures = [];
/** The tests that failed, and those that did so once. */
const details = [];

try {
  await setUp();
  const { tasks, planned } = await runTurbo();
  say("");
  for (const name of Object.keys(CHECKS)) judgeCheck(name, tasks, planned);
  for (const task of planned.filter((one) => TESTS.has(one.task))) judgeTests(task, tasks);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  count.failed += 1;
}
summary();

/** Runs everything. Resolves to what turbo says it has run, and what it should have run. */
async function runTurbo() {
  const names = [...Object.keys(CHECKS), ...TESTS].map((task) => (ROOT_ONLY.has(task) ? `//#${task}` : task));
  const filters = mode === "more" ? packagesWithMoreTests() : [];
  const runs =
    longest.length === 0
      ? [names]
      : [
          [...TESTS, `--concurrency=${atOnce}`, ...longest.map((name) => `--filter=${name}`)],
          [...names, `--concurrency=${beside}`, ...filters, ...longest.map((name) => `--filter=!${name}`)],
        ];
  const planned = JSON.parse(
    await turbo(["run", ...names, ...filters, "--dry=json"], "collect"),
  ).tasks.filter(({ command }) => command !== "<NONEXISTENT>");
  for (const { directory } of planned) rmSync(path.join(root, directory, REPORT), { force: true });
  rmSync(RUNS, { recursive: true, force: true });
  const options = ["--continue=dependencies-successful", "--summarize", "--log-order=grouped"];
  await Promise.all(runs.map((those) => turbo(["run", ...those, ...options], "show")));
  const files = existsSync(RUNS) ? readdirSync(RUNS) : [];
  if (files.length < runs.length) throw new SetupError("Turbo ended without an account of what it ran.");
  const tasks = files.flatMap((file) => JSON.parse(readFileSync(path.join(RUNS, file), "utf8")).tasks);
  return { planned, tasks: new Map(tasks.map((task) => [task.taskId, task])) };
}

/** Turbo's filters for the packages that have tests for `npm run test:more`. */
function packagesWithMoreTests() {
  const folders = ["packages", "apps", "scripts"].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => path.join(parent, name)),
  );
  return [...folders, "docs", "examples"]
    .filter((folder) => existsSync(path.join(root, folder, "package.json")))
    .filter((folder) => findMoreTests(path.join(root, folder)).length > 0)
    .map((folder) => `--filter=./${folder.replaceAll("\\", "/")}`);
}

/** Runs turbo to its end and resolves to its output, if that is collected. */
function turbo(args, output) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin("turbo"), args, {
      cwd: root,
      env: { ...toolEnvironment(), CEM_TEST_HOST: hostFacts(), ...env },
      stdio: ["ignore", output === "show" ? "inherit" : "pipe", "inherit"],
      shell: process.platform === "win32",
    });
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (data) => (text += data));
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
}

/** A check is one or more tasks of a name: each must have ended well. */
function judgeCheck(name, tasks, planned) {
  const { does, fix } = CHECKS[name];
  const ids = planned.filter(({ task }) => task === name).map(({ taskId }) => taskId);
  const bad = ids.filter((id) => tasks.get(id)?.execution?.exitCode !== 0);
  count[bad.length === 0 ? "passed" : "failed"] += 1;
  say(`  ${bad.length === 0 ? "ok    " : "FAILED"}  ${does}, ${timeOf(ids.map((id) => tasks.get(id)))}`);
  if (bad.length > 0) failures.push(fix === undefined ? name : `${name} (${fix} mends it)`);
}

/** Adds what a package's report counts. */
function judgeTests({ taskId, package: name, directory }, tasks) {
  const task = tasks.get(taskId);
  const label = name === "//" ? "repository" : name;
  const report = readReport(path.join(root, directory, REPORT));
  const { passed = 0, skipped = 0, failed = [], unsteady = [] } = report ?? {};
  for (const [tools, tests] of Object.entries(report?.lacking ?? {}))
    lacking.set(tools, (lacking.get(tools) ?? 0) + tests);
  count.passed += passed;
  count.skipped += skipped;
  const ok = task?.execution?.exitCode === 0 && report !== undefined && failed.length === 0;
  // A process left behind fails the run without failing a test.
  count.failed += ok ? 0 : Math.max(1, failed.length);
  say(`  ${ok ? "ok    " : "FAILED"}  ${label}: ${passed} tests, ${timeOf([task])}`);
  if (!ok) failures.push(`tests of ${label}${report === undefined ? " (they ended without a report)" : ""}`);
  for (const { test, error } of failed) details.push(`  failed: ${label} ${test}\n    ${error}`);
  for (const { test, error } of unsteady)
    details.push(`  passed at the second try only: ${label} ${test}\n    ${error}`);
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** How long tasks took, one after the other. */
function timeOf(tasks) {
  const ran = tasks.filter((task) => task !== undefined);
  if (ran.length === 0) return "not run";
  if (ran.every(({ cache }) => cache.status === "HIT")) return "unchanged";
  const took = ran
    .filter(({ cache }) => cache.status !== "HIT")
    .reduce((sum, { execution }) => sum + execution.endTime - execution.startTime, 0);
  return `${(took / 1000).toFixed(1)} s`;
}

function summary() {
  if (failures.length > 0) say(`\nFailed: ${failures.join(", ")}`);
  if (details.length > 0) say(`\n${details.join("\n")}`);
  for (const [tools, tests] of lacking)
    say(
      `\nSkipped: ${tests} tests need ${tools}. npm run test:more runs them where Debian's package is installed.`,
    );
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
