// pnpm test:mutation [package…] [--file src/x.ts]… [--sample N] [--seed TEXT] [--concurrency N]
// Mutates a package's sources (StrykerJS) and counts which mutants its own tests notice. A package takes part if it has a
// mutation.json: the least share that must be noticed, and the accepted survivors, each with why it means nothing. Where
// most of the code runs in processes of its own, `"everyTest": true` there runs all tests for each mutant: use a sample.
// Without a package: the one of the folder it is run from, or every one that has a mutation.json.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "./node24.mjs";
import { bin, toolEnvironment } from "./setup.mjs";

const REPORTS = path.join(root, ".cem", "mutation");
const DEFAULT_THRESHOLD = 85;
const CAUGHT = new Set(["Killed", "Timeout"]);
const MISSED = new Set(["Survived", "NoCoverage"]);

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: "string", multiple: true },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    concurrency: { type: "string", default: "2" },
  },
});

const folders = positionals.length > 0 ? positionals.map(folderOf) : defaultFolders();
for (const folder of folders) {
  const ok = await measure(folder);
  if (!ok) process.exitCode = 1;
}

function folderOf(name) {
  const found = allFolders().find((folder) => [nameOf(folder), path.basename(folder)].includes(name));
  if (found === undefined) throw new Error(`There is no package ${name}`);
  return found;
}

function allFolders() {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(path.join(root, group)).map((entry) => path.join(root, group, entry)),
  );
}

function nameOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")).name;
}

function defaultFolders() {
  const here = process.env.INIT_CWD ?? process.cwd();
  const current = allFolders().filter((folder) => here === folder || here.startsWith(folder + path.sep));
  return current.length > 0
    ? current
    : allFolders().filter((one) => existsSync(path.join(one, "mutation.json")));
}

function settingsOf(folder) {
  const file = path.join(folder, "mutation.json");
  const found = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  return { threshold: DEFAULT_THRESHOLD, accepted: [], ...found };
}

async function measure(folder) {
  const name = nameOf(folder);
  const report = path.join(REPORTS, `${path.basename(folder)}.json`);
  mkdirSync(REPORTS, { recursive: true });
  rmSync(report, { force: true });
  process.stdout.write(`${name}\n`);
  const code = await runStryker(folder, report);
  if (!existsSync(report)) {
    process.stdout.write(`${name}: no report, the mutation run ended with ${code}\n`);
    return false;
  }
  return judge(name, settingsOf(folder), mutantsOf(JSON.parse(readFileSync(report, "utf8"))));
}

async function runStryker(folder, report) {
  const config = path.join(REPORTS, `${path.basename(folder)}.config.json`);
  const work = path.join(root, `.mutation-${path.basename(folder)}`);
  writeFileSync(config, JSON.stringify(strykerOptions(folder, report, work), null, 2));
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(bin("stryker"), ["run", config], {
        cwd: folder,
        env: { ...toolEnvironment(), CEM_MUTATION: "1" },
        stdio: ["ignore", "inherit", "inherit"],
      });
      child.on("error", reject);
      child.on("close", resolve);
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function strykerOptions(folder, report, work) {
  const sample = given.sample && { size: Number(given.sample), seed: given.seed, folder };
  return {
    // Mutants in code of other processes are seen only where each has a run of all tests to itself.
    testRunner: settingsOf(folder).everyTest ? "command" : "vitest",
    commandRunner: { command: "vitest run --bail=1 --reporter=dot" },
    plugins: [
      "@stryker-mutator/vitest-runner",
      path.join(import.meta.dirname, "mutation", "sample-checker.mjs"),
    ],
    mutate: given.file ?? ["src/**/*.ts", "!src/**/*.test.ts", "!src/testing/**"],
    reporters: ["progress-append-only", "json"],
    jsonReporter: { fileName: report },
    // Two folders deep, like the package itself: what is read by `../../` is found from the copy too.
    tempDirName: path.relative(folder, work),
    tsconfigFile: "none",
    concurrency: Number(given.concurrency),
    allowConsoleColors: false,
    // A busy machine must not make a slow test count as one that noticed.
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 20,
    logLevel: "error",
    warnings: { unknownOptions: false },
    ...(sample ? { checkers: ["cem-sample"], cemSample: sample } : {}),
  };
}

/** The mutants of a report, each with the line of source that it is on. */
function mutantsOf(report) {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    return mutants.map((mutant) => ({ ...mutant, file, line: lines[mutant.location.start.line - 1].trim() }));
  });
}

function judge(name, { threshold, accepted }, mutants) {
  const caught = mutants.filter(({ status }) => CAUGHT.has(status));
  const missed = mutants.filter(({ status }) => MISSED.has(status));
  const entryOf = (mutant) => accepted.find((entry) => matches(entry, mutant));
  const surviving = missed.filter((mutant) => entryOf(mutant) === undefined);
  for (const { file, location, line, mutatorName, replacement, status } of surviving) {
    const { start } = location;
    process.stdout.write(
      `\n${status === "NoCoverage" ? "not run by any test" : "survived"}: ${file}:${start.line}:${start.column}\n` +
        `${JSON.stringify({ file, line, mutator: mutatorName, replacement, why: "" })}\n`,
    );
  }
  const unused = accepted.filter((entry) => !missed.some((mutant) => matches(entry, mutant)));
  const complete = !given.sample && !given.file;
  if (complete) {
    for (const entry of unused)
      process.stdout.write(`\naccepted, but it survives no more: ${JSON.stringify(entry)}\n`);
  }
  const counted = caught.length + surviving.length;
  const share = counted === 0 ? 100 : (100 * caught.length) / counted;
  process.stdout.write(
    `\n${name}: ${share.toFixed(1)} % of ${counted} mutants caught, ${threshold} % needed; ` +
      `${surviving.length} survived, ${missed.length - surviving.length} accepted\n`,
  );
  return share >= threshold && !(complete && unused.length > 0);
}

/** An entry names the file; of line, mutator and replacement, what it leaves out may be anything. */
function matches({ file, line, mutator, replacement, why }, mutant) {
  if (!why)
    throw new Error(`An accepted survivor needs its reason in "why": ${JSON.stringify({ file, line })}`);
  const same = (wanted, found) => wanted === undefined || wanted === found;
  return (
    file === mutant.file &&
    same(line, mutant.line) &&
    same(mutator, mutant.mutatorName) &&
    same(replacement, mutant.replacement)
  );
}
