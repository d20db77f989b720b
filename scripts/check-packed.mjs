// Packs every package and uses it as a stranger would: installed from its tarball, with npm, in an empty folder
// where nothing of this repository can be found. Each package is installed alone (with those of ours that it
// depends on) and its `packed.mjs`, if it has one, is run; then the whole is tried with the command.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { findNode, root } from "./node24.mjs";

const run = promisify(execFile);
const STEP_TIMEOUT_MS = 240_000;
const folder = mkdtempSync(path.join(os.tmpdir(), "cem-packed-"));
const environment = {
  ...process.env,
  PATH: `${path.dirname(findNode())}${path.delimiter}${process.env.PATH}`,
};
const options = { timeout: STEP_TIMEOUT_MS, env: environment, maxBuffer: 64 * 1024 * 1024 };

try {
  const packages = await packAll();
  const failures = [];
  for (const one of packages.values()) {
    if (!existsSync(path.join(one.folder, "packed.mjs"))) continue;
    try {
      await proveAlone(one, packages);
      process.stdout.write(`${one.name}: ok\n`);
    } catch (error) {
      failures.push(one.name);
      process.stdout.write(`${one.name}: ${error.stdout ?? ""}${error.stderr ?? error.message}\n`);
    }
  }
  if (failures.length > 0) {
    process.stdout.write(`Not usable from their tarballs: ${failures.join(", ")}\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function packAll() {
  const packages = new Map();
  for (const group of ["packages", "apps"]) {
    for (const entry of readdirSync(path.join(root, group))) {
      const source = path.join(root, group, entry);
      const manifest = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
      if (manifest.private) continue;
      const destination = path.join(folder, "tarballs", entry);
      mkdirSync(destination, { recursive: true });
      await run("npx", ["-y", "pnpm@12.18.0", "pack", "--pack-destination", destination], {
        ...options,
        cwd: source,
      });
      const tarball = path.join(destination, readdirSync(destination)[0]);
      const needs = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
      packages.set(manifest.name, { name: manifest.name, folder: source, tarball, needs });
    }
  }
  return packages;
}

/** A package with those of ours that it needs, as `file:` dependencies. */
function closure(one, packages, into = {}) {
  into[one.name] = `file:${one.tarball}`;
  for (const name of one.needs) {
    const needed = packages.get(name);
    if (needed !== undefined && !(name in into)) closure(needed, packages, into);
  }
  return into;
}

async function proveAlone(one, packages) {
  const project = path.join(folder, "projects", one.name.replace("/", "__"));
  mkdirSync(project, { recursive: true });
  const dependencies = closure(one, packages);
  writeFileSync(
    path.join(project, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  cpSync(path.join(one.folder, "packed.mjs"), path.join(project, "packed.mjs"));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { ...options, cwd: project });
  await run(findNode(), ["packed.mjs"], { ...options, cwd: project });
}
