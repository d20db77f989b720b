import { globSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { build as buildAlso } from "tsup";
import { library } from "../../tsup.base.ts";

/** What the commands load when they need it, each a file of its name. */
const lazy = [...globSync("src/commands/*.ts"), "src/hint.ts", "src/settle-trust.ts"]
  .filter((file) => !/\.test\.ts$|index\.ts$/u.test(file))
  .map((file) => [path.basename(file, ".ts"), file] as const);

const QUICK = /\/(?:run|exec|call)\.ts$/u;

/**
 * Commands that people wait for are one file, which loads in half the time of thirty. What they load later is among the files of
 * the first build.
 */
const quick = library({
  entry: { quick: "src/quick.ts" },
  typed: false,
  clean: false,
  splitting: false,
  noExternal: ["@cem/core", "@cem/core/text", "commander", "fast-string-truncated-width", "picocolors"],
  // Those that are CommonJS ask for what Node has.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  esbuildPlugins: [
    {
      name: "lazy",
      setup(build) {
        build.onResolve({ filter: /^\.{1,2}\// }, ({ kind, path: file }) =>
          kind === "dynamic-import" && !QUICK.test(file)
            ? { path: `./${path.basename(file, ".ts")}.js`, external: true }
            : undefined,
        );
      },
    },
  ],
});

export default library({
  entry: { cem: "src/cem.ts", ...Object.fromEntries(lazy) },
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
  // `cem examples` takes what it runs from beside itself.
  onSuccess: async () => {
    await buildAlso({ config: false, silent: true, ...(quick as Parameters<typeof buildAlso>[0]) });
    const isKept = (file: string): boolean => !/node_modules|\.test\.ts$|\.config\.ts$|\.json$/u.test(file);
    for (const part of ["examples", "servers", "skills"]) {
      await cp(path.join("../..", part), path.join("dist/samples", part), {
        recursive: true,
        filter: isKept,
      });
    }
  },
});
