import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));

const folders = ["packages", "apps"].flatMap((group) =>
  readdirSync(path.join(root, group)).map((name) => `${group}/${name}`),
);
const packages = folders.map((folder) => ({ folder, manifest: readManifest(folder) }));
const byName = new Map(packages.map((one) => [one.manifest.name as string, one]));
const isPublic = packages.filter(({ manifest }) => manifest.private !== true);

/** An optional part of the command that is too large for everybody: pods need the client of Kubernetes, of 80 MB. */
const NOT_IN_NPM_START = new Set(["@kubernetes/client-node", "ws"]);
/** Optional peers that most users of a clone need all the same. */
const PEERS = ["openai"];

/** The packages from which sources of a package import values; types are gone when they run. */
function importedBySources(folder: string): Set<string> {
  const files = readdirSync(path.join(root, folder, "src"), { recursive: true, encoding: "utf8" });
  const specifiers = files
    .filter(
      (file) => file.endsWith(".ts") && !/(?:\.test|(?:^|\/)testing)\.ts$|(?:^|\/)testing\//u.test(file),
    )
    .map((file) => readFileSync(path.join(root, folder, "src", file), "utf8"))
    .flatMap((text) => [
      ...text.matchAll(
        /^(?:import|export) (?!type )[^;"]*?from "([^".][^"]*)"|\b(?:import|require)\(\s*"([^".][^"]*)"/gmu,
      ),
    ])
    .map(([, fromClause, called]) => fromClause ?? called ?? "");
  return new Set(
    specifiers.map((one) =>
      one
        .split("/")
        .slice(0, one.startsWith("@") ? 2 : 1)
        .join("/"),
    ),
  );
}

describe("package.json", () => {
  it.each(packages)(
    "of $folder says where the package comes from and what it needs",
    ({ folder, manifest }) => {
      const { repository, license, engines } = manifest;
      expect({ repository, license, engines }).toEqual({
        repository: { ...readManifest(".").repository, directory: folder },
        license: "MIT",
        engines: { node: ">=22.19.0" },
      });
    },
  );

  it("of the check of packed packages names every public package, so that they are built before it", () => {
    const named = Object.entries(readManifest("scripts/packed").devDependencies)
      .filter(([, version]) => version === "workspace:^")
      .map(([name]) => name);
    expect(new Set(named)).toEqual(new Set(isPublic.map(({ manifest }) => manifest.name)));
  });

  it("of the repository names what sources of the command import and builds bundle, so that npm start needs no more", () => {
    const reached = new Set(["@cem/cli"]);
    for (const name of reached)
      for (const other of Object.keys(byName.get(name)?.manifest.dependencies ?? {}))
        if (byName.has(other)) reached.add(other);
    const missing = [...reached].flatMap((name) => {
      const { folder, manifest } = byName.get(name) ?? { folder: "", manifest: {} };
      const bundled = Object.keys(manifest.devDependencies ?? {}).filter(
        (other) => manifest.peerDependencies?.[other] === undefined && !NOT_IN_NPM_START.has(other),
      );
      const imported = importedBySources(folder);
      return bundled.filter((other) => imported.has(other)).map((other) => [other, folder]);
    });
    const named = readManifest(".").dependencies;
    expect(missing.filter(([name = ""]) => !(name in named))).toEqual([]);
    expect(Object.keys(named).filter((name) => !missing.some(([other]) => other === name))).toEqual([
      ...PEERS,
    ]);
  });

  it("stands beside a README of each public package", () => {
    const without = isPublic.filter(({ folder }) => !existsSync(path.join(root, folder, "README.md")));
    expect(without).toEqual([]);
  });
});

describe("the changesets", () => {
  // As `changeset version` does, which would write the versions and install the packages anew.
  it("make a release, of public packages alone", async () => {
    const cli = createRequire(realpathSync(path.join(root, "node_modules/@changesets/cli/package.json")));
    const load = (name: string) => import(pathToFileURL(cli.resolve(name)).href);
    const [{ getPackages }, { readConfig }, { readChangesets }, { assembleReleasePlan }] = await Promise.all([
      load("@manypkg/get-packages"),
      load("@changesets/config"),
      load("@changesets/read"),
      load("@changesets/assemble-release-plan"),
    ]);
    const all = await getPackages(root);
    const { config } = await readConfig(root, all);
    const { releases } = assembleReleasePlan(await readChangesets(root), all, config, undefined);
    const released = (releases as { name: string; type: string }[]).filter(({ type }) => type !== "none");
    expect(released.filter(({ name }) => !isPublic.some(({ manifest }) => manifest.name === name))).toEqual(
      [],
    );
  });
});
