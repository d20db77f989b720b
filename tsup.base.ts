import { defineConfig, type Options } from "tsup";

/** The build of every package: ESM only, with types and source maps. A package adds only what differs. */
export function library(options: Options = {}): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: ["src/index.ts"],
    format: "esm",
    target: "node22",
    platform: "node",
    dts: true,
    sourcemap: true,
    clean: true,
    ...options,
  });
}
