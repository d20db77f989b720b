// node scripts/installed-size.mjs [package…]: what each public package brings: packs it and those of ours that it needs,
// installs them with npm in an empty folder and prints the number of packages and the megabytes on disk. Builds first.
import { execFile, spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "./node24.mjs";
import { packAll, tarballsFor } from "./packed/tarballs.mjs";
import { bin, toolEnvironment } from "./setup.mjs";

const BYTES_PER_MB = 1_000_000;
const run = promisify(execFile);

const folder = mkdtempSync(path.join(os.tmpdir(), "cem-size-"));
try {
  const build = spawnSync(bin("turbo"), ["run", "build", "--output-logs=errors-only"], {
    cwd: root,
    env: toolEnvironment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (build.status !== 0) throw new Error("The build failed.");
  const packages = await packAll(path.join(folder, "tarballs"));
  const asked = process.argv.slice(2);
  process.stdout.write("| package | packages | MB |\n| --- | ---: | ---: |\n");
  for (const one of packages.values()) {
    if (asked.length > 0 && !asked.includes(one.name)) continue;
    const { count, bytes } = await install(one, packages);
    process.stdout.write(`| ${one.name} | ${count} | ${(bytes / BYTES_PER_MB).toFixed(1)} |\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function install(one, packages) {
  const project = path.join(folder, "project");
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  const dependencies = tarballsFor(one, packages);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ private: true, dependencies }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], {
    cwd: project,
    env: toolEnvironment(),
  });
  const modules = path.join(project, "node_modules");
  return { count: countPackages(modules), bytes: bytesIn(modules) };
}

/** The folders with a package.json that npm made: `node_modules/x`, `node_modules/@y/z`, and those nested in them. */
function countPackages(modules) {
  return namesIn(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? namesIn(path.join(modules, name)).map((one) => `${name}/${one}`) : name,
    )
    .reduce((sum, name) => sum + 1 + countPackages(path.join(modules, name, "node_modules")), 0);
}

function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function bytesIn(file) {
  const stats = lstatSync(file);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(file).reduce((sum, name) => sum + bytesIn(path.join(file, name)), 0);
}
