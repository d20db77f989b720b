// Packs the public packages, and says which tarballs a package needs to be installed alone.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../node24.mjs";
import { bin, toolEnvironment } from "../setup.mjs";

const AT_ONCE = os.availableParallelism();

/** Every public package by its name, with its folder, its tarball and the names of what it needs. */
export async function packAll(destination) {
  const packages = new Map();
  const folders = ["packages", "apps"].flatMap((group) =>
    readdirSync(path.join(root, group)).map((entry) => path.join(root, group, entry)),
  );
  await eachAtOnce(folders, async (folder) => {
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    if (manifest.private) return;
    const target = path.join(destination, path.basename(folder));
    mkdirSync(target, { recursive: true });
    await promisify(execFile)(bin("pnpm"), ["pack", "--pack-destination", target], {
      cwd: folder,
      env: toolEnvironment(),
    });
    const tarball = path.join(target, readdirSync(target)[0]);
    const needs = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    packages.set(manifest.name, { name: manifest.name, folder, tarball, needs });
  });
  return packages;
}

/** A package with those of ours that it needs, as `file:` dependencies. */
export function tarballsFor(one, packages, into = {}) {
  into[one.name] = `file:${one.tarball}`;
  for (const name of one.needs) {
    const needed = packages.get(name);
    if (needed !== undefined && !(name in into)) tarballsFor(needed, packages, into);
  }
  return into;
}

/** Does the work for all items, as many at a time as there are processors. */
export async function eachAtOnce(items, work) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
