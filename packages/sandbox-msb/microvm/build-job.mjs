// The tests as files that run anywhere: bundled, with what can't be bundled beside them.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { findNode, root } from "../../../scripts/node24.mjs";
import { bin, say, toolEnvironment } from "../../../scripts/setup.mjs";
import { run } from "./run.mjs";

const tests = import.meta.dirname;
const folder = path.join(root, ".cem", "microvm", "job");
/** The folder of the machines' files; the images in it name it, so it is the same inside and outside. */
const home = path.join(root, ".cem", "microvm", "home");
const SDK = "microsandbox";

/** Node's arguments to run the tests in their folder. */
export const JOB_ARGUMENTS = [
  // Code that is made while it runs has to be translated anew each time, where the processor is emulated.
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--regexp-interpret-all",
  "--test-force-exit",
  "--test-reporter=./reporter.mjs",
  "--test-reporter-destination=stdout",
  "tests.mjs",
];
export const JOB_ENVIRONMENT = { NODE_COMPILE_CACHE: path.join(folder, "compiled") };

/** Builds everything a run of the tests needs, in one folder. */
export async function buildJob() {
  say("Bundling the tests, and making the machines' image …");
  mkdirSync(folder, { recursive: true });
  copyPackages();
  const deno = path.dirname(resolveFrom(`@deno/linux-${process.arch}-glibc/package.json`, "sandbox-msb"));
  cpSync(path.join(deno, "deno"), path.join(folder, "deno"), { preserveTimestamps: true });
  writeFileSync(
    path.join(folder, "settings.json"),
    JSON.stringify({ home, denoPath: path.join(folder, "deno") }),
  );
  const env = toolEnvironment();
  await run(bin("tsup"), ["--config", path.join(tests, "tsup.config.ts")], { cwd: root, env });
  await run(findNode(), ["prepare-home.mjs"], { cwd: folder, env });
  // Loads all and runs nothing, so that what Node makes of the sources is kept: there it would take long.
  const loading = { ...env, ...JOB_ENVIRONMENT, CEM_MICROVM_TESTS: "^$", CEM_MICROVM_SCOPE: "whole" };
  await run(findNode(), JOB_ARGUMENTS, { cwd: folder, env: loading });
  return { folder, home };
}

function resolveFrom(name, ...where) {
  return createRequire(path.join(root, "packages", ...where, "package.json")).resolve(name);
}

/** The SDK and its binaries for this platform. */
function copyPackages() {
  const modules = path.join(folder, "node_modules");
  const sdk = path.resolve(path.dirname(resolveFrom(SDK, "sandbox-msb")), "..");
  const scope = path.join(sdk, "..", "@superradcompany");
  const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
  const copies = { [SDK]: sdk, [`@superradcompany/${SDK}-${platform}`]: `${scope}/${SDK}-${platform}` };
  for (const [name, from] of Object.entries(copies)) {
    rmSync(path.join(modules, name), { recursive: true, force: true });
    cpSync(from, path.join(modules, name), { recursive: true, dereference: true });
  }
}
