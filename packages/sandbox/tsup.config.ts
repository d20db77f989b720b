import { library } from "../../tsup.base.ts";

export default [
  library({ entry: { index: "src/index.ts", contract: "src/contract/index.ts" } }),
  library({
    entry: { boot: "src/guest/boot.ts" },
    outDir: "dist/guest",
    platform: "neutral",
    target: "es2024",
    dts: false,
    sourcemap: false,
    minify: true,
  }),
];
