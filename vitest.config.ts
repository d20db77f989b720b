import os from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Many tests wait for processes of their own; vitest's default leaves one core idle.
    maxWorkers: Math.max(2, os.availableParallelism()),
    projects: [
      "packages/*",
      "apps/*",
      { test: { name: "repository", include: ["scripts/*.test.ts"], testTimeout: 60_000 } },
    ],
  },
});
