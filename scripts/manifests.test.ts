import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));

const folders = ["packages", "apps"].flatMap((group) =>
  readdirSync(path.join(root, group)).map((name) => `${group}/${name}`),
);
const packages = folders.map((folder) => ({ folder, manifest: readManifest(folder) }));
const isPublic = packages.filter(({ manifest }) => manifest.private !== true);

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

  it("stands beside a README of each public package", () => {
    const without = isPublic.filter(({ folder }) => !existsSync(path.join(root, folder, "README.md")));
    expect(without).toEqual([]);
  });
});
