// The tests as files that run anywhere: bundled, with the few packages they need beside them.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { findNode, root } from "../node24.mjs";
import { bin, say, SetupError, toolEnvironment } from "../setup.mjs";

const tests = path.join(root, "packages/sandbox-msb/microvm");
const folder = path.join(root, ".cem", "microvm", "job");
/** What the machines' files are; the images in it name it, so it is the same inside and outside. */
const home = path.join(root, ".cem", "microvm", "home");
const PACKAGES = ["microsandbox", "vitest", "vite"];

const ownRequire = (...where) => createRequire(path.join(root, ...where, "package.json"));

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, env: toolEnvironment(), encoding: "utf8" });
  if (done.status === 0) return done.stdout;
  throw new SetupError(`${command} ${args.join(" ")} failed:\n${done.stdout}${done.stderr ?? done.error}`);
}

/** Builds everything a run of the tests needs, in one folder. */
export async function buildJob() {
  mkdirSync(folder, { recursive: true });
  installPackages();
  say("Bundling the tests …");
  run(bin("tsup"), ["--config", path.join(tests, "tsup.config.ts")], root);
  const deno = createRequire(path.join(root, "packages/sandbox-msb/package.json")).resolve(
    `@deno/linux-${process.arch}-glibc/package.json`,
  );
  cpSync(path.join(path.dirname(deno), "deno"), path.join(folder, "deno"), { preserveTimestamps: true });
  for (const name of ["run.mjs", "vitest.config.mjs"])
    cpSync(path.join(tests, name), path.join(folder, name));
  writeFileSync(
    path.join(folder, "settings.json"),
    JSON.stringify({ home, denoPath: path.join(folder, "deno") }),
  );
  say("Making the machines' image …");
  run(findNode(), [path.join(folder, "prepare-home.mjs")], folder);
  return { folder, home };
}

/** Installs what can't be bundled, when its versions have changed. */
function installPackages() {
  const versions = PACKAGES.map((name) => [name, versionOf(name)]);
  const manifest = JSON.stringify({
    private: true,
    type: "module",
    dependencies: Object.fromEntries(versions),
  });
  const file = path.join(folder, "package.json");
  if (existsSync(path.join(folder, "node_modules")) && readFileSync(file, "utf8") === manifest) return;
  say("Installing the tests' packages …");
  rmSync(path.join(folder, "node_modules"), { recursive: true, force: true });
  writeFileSync(file, manifest);
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--no-package-lock"], folder);
}

function versionOf(name) {
  const from = name === "microsandbox" ? ownRequire("packages", "sandbox-msb") : ownRequire();
  const main = from.resolve(name);
  const end = main.lastIndexOf(`${path.sep}node_modules${path.sep}${name}${path.sep}`);
  const manifest = path.join(main.slice(0, end), "node_modules", name, "package.json");
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}
