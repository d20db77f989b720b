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
  mkdirSync(destination, { recursive: true });
  const packages = new Map();
  for (const folder of ["packages", "apps"].flatMap(foldersOf)) {
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    if (manifest.private) continue;
    const { name, version } = manifest;
    const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
    const needs = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    packages.set(name, { name, folder, tarball: path.join(destination, file), needs });
  }
  const filters = [...packages.keys()].map((name) => `--filter=${name}`);
  await promisify(execFile)(bin("pnpm"), [...filters, "pack", "--pack-destination", destination], {
    cwd: root,
    env: toolEnvironment(),
  });
  return packages;
}

function foldersOf(group) {
  return readdirSync(path.join(root, group)).map((entry) => path.join(root, group, entry));
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
