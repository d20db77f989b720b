// The tests as files that run anywhere: bundled, with what can't be bundled beside them.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { findNode, root } from "../node24.mjs";
import { bin, say, toolEnvironment } from "../setup.mjs";
import { run } from "./run.mjs";

const tests = path.join(root, "packages/sandbox-msb/microvm");
const folder = path.join(root, ".cem", "microvm", "job");
/** What the machines' files are; the images in it name it, so it is the same inside and outside. */
const home = path.join(root, ".cem", "microvm", "home");
const SDK = "microsandbox";

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
