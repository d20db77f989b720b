// Installs a packed package alone in an empty folder, as flat as npm does, and counts what that brings.
import { execFile } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { bin, toolEnvironment } from "../setup.mjs";
import { tarballsFor } from "./tarballs.mjs";

const run = promisify(execFile);

/** The number of packages that one brings, and their bytes on disk; those of Deno's binary are counted apart. */
export async function install(one, packages, folder) {
  const project = path.join(folder, "project");
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  const dependencies = tarballsFor(one, packages);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ private: true, dependencies }));
  writeFileSync(
    path.join(project, "pnpm-workspace.yaml"),
    JSON.stringify({ overrides: dependencies, nodeLinker: "hoisted" }),
  );
  await run(bin("pnpm"), ["install", "--prefer-offline", "--no-lockfile", "--ignore-scripts", "--prod"], {
    cwd: project,
    env: toolEnvironment(),
  });
  const modules = path.join(project, "node_modules");
  const binaries = path.join(modules, "@deno");
  const denoBytes = namesIn(binaries).length > 0 ? bytesIn(binaries) : 0;
  const ownBytes = bytesIn(path.join(modules, one.name));
  return { count: countPackages(modules), bytes: bytesIn(modules) - denoBytes, denoBytes, ownBytes };
}

/** The folders with a package.json that were made: `node_modules/x`, `node_modules/@y/z`, and those nested in them. */
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
