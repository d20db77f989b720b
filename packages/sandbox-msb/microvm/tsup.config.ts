import path from "node:path";
import { defineConfig } from "tsup";

const root = path.resolve(import.meta.dirname, "../../..");
const tests = import.meta.dirname;
const out = path.join(root, ".cem/microvm/job");
const testApi = path.join(tests, "test-api.ts");

/** The tests with all of ours inside, and the guest's runner beside them. */
export default defineConfig([
  {
    entry: {
      tests: path.join(tests, "tests.ts"),
      provider: path.join(tests, "provider.ts"),
      "prepare-home": path.join(tests, "prepare-home.ts"),
      reporter: path.join(tests, "reporter.mjs"),
    },
    external: ["microsandbox"],
    noExternal: [/^(?!microsandbox$)/],
    format: "esm",
    target: "node22",
    platform: "node",
    outDir: out,
    outExtension: () => ({ js: ".mjs" }),
    splitting: true,
    removeNodeProtocol: false,
    esbuildPlugins: [
      {
        name: "test-api",
        setup(build) {
          build.onResolve({ filter: /^vitest$/ }, ({ importer }) =>
            importer === testApi ? undefined : { path: testApi },
          );
        },
      },
    ],
    esbuildOptions(options) {
      options.conditions = ["@cem/source"];
      // The tests are imported for their effects.
      options.ignoreAnnotations = true;
      // Bundled CommonJS asks for Node's modules by `require`.
      options.banner = {
        js: `import { createRequire as cemCreateRequire } from "node:module"; const require = cemCreateRequire(import.meta.url);`,
      };
    },
  },
  {
    entry: { "guest/boot": path.join(root, "packages/sandbox/src/guest/boot.ts") },
    format: "esm",
    target: "node22",
    outDir: out,
    splitting: false,
    removeNodeProtocol: false,
  },
]);
