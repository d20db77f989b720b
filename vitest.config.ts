import { defineConfig } from "vitest/config";
import { workers } from "./vitest.base.ts";

export default defineConfig({
  test: {
    maxWorkers: workers(),
    projects: [
      "packages/*",
      "apps/*",
      {
        test: {
          name: "repository",
          include: ["scripts/*.test.ts"],
          testTimeout: 60_000,
          maxWorkers: workers(),
        },
      },
    ],
  },
});
