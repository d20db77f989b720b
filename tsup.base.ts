import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, type Options } from "tsup";

/**
 * The build of every package: ESM only, with types and source maps. A package adds only what differs.
 *
 * @param options - Packages under `noExternal` are bundled, and their licenses written into `dist`.
 */
export function library(
  options: Options & { noExternal?: string[] | undefined } = {},
): ReturnType<typeof defineConfig> {
  const { noExternal: bundled = [] } = options;
  return defineConfig({
    entry: ["src/index.ts"],
    format: "esm",
    target: "node22",
    platform: "node",
    dts: true,
    sourcemap: true,
    clean: true,
    onSuccess: async () => writeLicenses(bundled),
    esbuildOptions(build) {
      // Its build for Node is CommonJS, which can't be bundled into a module.
      if (bundled.includes("yaml"))
        build.alias = { yaml: path.resolve("node_modules/yaml/browser/index.js") };
    },
    ...options,
  });
}

/** @throws Error where a package comes without a license file. */
function writeLicenses(bundled: readonly string[]): void {
  if (bundled.length === 0) return;
  const licenses = bundled.map((name) => {
    const folder = path.join("node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no license file, so it can't be bundled.`);
    return `## ${name}\n\n${readFileSync(path.join(folder, file), "utf8").trim()}\n`;
  });
  writeFileSync(
    "dist/THIRD-PARTY-LICENSES.md",
    ["# Licenses of the packages that are part of these files\n", ...licenses].join("\n"),
  );
}
