import path from "node:path";
import { build as buildAlso } from "tsup";
import { library } from "../../tsup.base.ts";

/** Files that the quick commands load only where they need them. */
const LAZY: Readonly<Record<string, string>> = { all: "src/commands/all.ts" };

/**
 * Commands that people wait for are one file, which loads in half the time of thirty. What they load later is among the files of
 * the first build.
 */
const quick = library({
  entry: { quick: "src/quick.ts" },
  typed: false,
  clean: false,
  splitting: false,
  noExternal: [
    "@cem/core",
    "@cem/core/errors",
    "@cem/core/text",
    "commander",
    "fast-string-truncated-width",
    "picocolors",
  ],
  // Those that are CommonJS ask for what Node has.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  esbuildPlugins: [
    {
      name: "lazy",
      setup(build) {
        build.onResolve({ filter: /^\.{1,2}\// }, ({ kind, path: file }) => {
          if (kind !== "dynamic-import") return undefined;
          const name = path.basename(file, ".ts");
          if (name in LAZY) return { path: `./${name}.js`, external: true };
          return { errors: [{ text: `${file} is loaded later and is no entry: add it to LAZY` }] };
        });
      },
    },
  ],
});

export default library({
  entry: { cem: "src/cem.ts", ...LAZY },
  noExternal: ["@lezer/python", "diff", "yaml"],
  splitting: true,
  typed: false,
  esbuildPlugins: [
    {
      name: "quick",
      setup(build) {
        build.onResolve({ filter: /\/quick\.ts$/ }, () => ({ path: "./quick.js", external: true }));
      },
    },
  ],
  onSuccess: async () => {
    await buildAlso({ config: false, silent: true, ...(quick as Parameters<typeof buildAlso>[0]) });
  },
});
