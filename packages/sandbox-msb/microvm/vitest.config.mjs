import { defineConfig } from "vitest/config";

const TIMEOUT_MS = 300_000;

export default defineConfig({
  test: {
    include: ["*.test.mjs"],
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    fileParallelism: false,
    isolate: false,
    // The SDK holds its machines in this process, and threads would share it anyway.
    pool: "forks",
    reporters: [
      ["verbose", { summary: false }],
      ["json", { outputFile: "report.json" }],
    ],
  },
});
