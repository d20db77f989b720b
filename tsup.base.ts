import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, type Options } from "tsup";
import { declarations } from "./tsup.declarations.ts";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const FILE = "THIRD-PARTY-LICENSES.md";
/** The folder and the name of the package that a file belongs to. */
const PACKAGE = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** The folder in which pnpm has every package, from that of the package that is built. */
const STORE = path.resolve("../../node_modules/.pnpm");

/** The differences of a package's build. */
interface LibraryOptions extends Omit<Options, "dts"> {
  /** Which entries people import, and so need types: all of them if not said, none with `false`. */
  typed?: NonNullable<Options["entry"]> | false;
}

/** The build of every package: ESM only, with types and source maps. A package adds only what differs. */
export function library({ typed, esbuildPlugins = [], ...options }: LibraryOptions = {}): ReturnType<
  typeof defineConfig
> {
  const entry = options.entry ?? ["src/index.ts"];
  return defineConfig({
    entry,
    format: "esm",
    target: "node22",
    platform: "node",
    sourcemap: true,
    clean: true,
    // Some modules of Node (`node:sqlite`), and in Deno all of them, are found by their full names only.
    removeNodeProtocol: false,
    esbuildPlugins: [licenses, ...(typed === false ? [] : [declarations(typed ?? entry)]), ...esbuildPlugins],
    esbuildOptions(build) {
      // Its build for Node is CommonJS, which can't be bundled into a module.
      if (options.noExternal?.includes("yaml") === true)
        build.alias = { yaml: path.resolve("node_modules/yaml/browser/index.js") };
    },
    ...options,
  });
}

/** Packages whose code became part of the files, with their folders. A package may have several builds into one folder. */
const bundled = new Map<string, string>();

/** Writes the licenses of the packages whose code became part of the files. */
const licenses: Plugin = {
  name: "licenses",
  setup(build) {
    build.initialOptions.metafile = true;
    const { outdir = "dist" } = build.initialOptions;
    build.onEnd(({ metafile }) => {
      for (const { inputs } of Object.values(metafile?.outputs ?? {})) {
        for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
          if (bytesInOutput > 0) for (const part of [file, ...sourcesOf(file)]) addPackageOf(part, file);
        }
      }
      if (bundled.size === 0) return;
      const texts = [...bundled].map(([name, folder]) => `## ${name}\n\n${licenseIn(folder)}\n`);
      const title = "# Licenses of the packages that are part of these files\n";
      mkdirSync(outdir, { recursive: true });
      writeFileSync(path.join(outdir, FILE), [title, ...texts.toSorted()].join("\n"));
    });
  },
};

/** The files that a file was bundled of itself, as its source map tells. */
function sourcesOf(file: string): string[] {
  if (!existsSync(`${file}.map`)) return [];
  const { sources } = JSON.parse(readFileSync(`${file}.map`, "utf8")) as { sources: string[] };
  return sources.map((source) => path.join(path.dirname(file), source));
}

/** @param file - A file, or one that the given one was bundled of. */
function addPackageOf(file: string, given: string): void {
  const [folder, name] = PACKAGE.exec(file) ?? [];
  if (folder === undefined || name === undefined || bundled.has(name)) return;
  // The sources of a bundled package lay elsewhere: the license is that of the version here. Sources that are nowhere here, as
  // parts of the package's own project, have the license of the package.
  const entry = readdirSync(STORE).find((one) => one.startsWith(`${name.replace("/", "+")}@`));
  const inStore =
    entry === undefined ? PACKAGE.exec(given)?.[0] : path.join(STORE, entry, "node_modules", name);
  bundled.set(name, existsSync(folder) ? folder : (inStore ?? folder));
}

/** @throws Error where a package comes without a license file. */
function licenseIn(folder: string): string {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no license file, so it can't be bundled.`);
  return readFileSync(path.join(folder, file), "utf8").trim();
}
