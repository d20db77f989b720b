import path from "node:path";
import { defineConfig } from "tsup";

const root = path.resolve(import.meta.dirname, "../../..");
const out = path.join(root, ".cem/microvm/job");

/** The tests with all of ours inside, and the guest's runner beside them. */
export default defineConfig([
  {
    entry: {
      "machines.test": path.join(root, "packages/sandbox-msb/microvm/machines.test.ts"),
      "contract.test": path.join(root, "packages/sandbox-msb/microvm/contract.test.ts"),
      provider: path.join(root, "packages/sandbox-msb/microvm/provider.ts"),
      "prepare-home": path.join(root, "packages/sandbox-msb/microvm/prepare-home.ts"),
    },
    external: ["microsandbox", "vitest"],
    noExternal: [/^(?!microsandbox$|vitest$)/],
    format: "esm",
    target: "node22",
    platform: "node",
    outDir: out,
    outExtension: () => ({ js: ".mjs" }),
    splitting: true,
    removeNodeProtocol: false,
    esbuildOptions(options) {
      options.conditions = ["@cem/source"];
      // What is CommonJS inside asks for Node's modules by `require`.
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
