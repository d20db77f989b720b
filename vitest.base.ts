import os from "node:os";
import { defineConfig } from "vitest/config";

/** Tests run against the sources of every package, so one package's tests need no build. */
export default defineConfig({
  resolve: { conditions: ["@cem/source"] },
  ssr: { resolve: { conditions: ["@cem/source"] } },
  test: {
    include: ["src/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: workers(),
  },
});

/** Many tests wait for processes of their own; vitest's default would leave a core idle. */
export function workers(): number {
  return Math.max(2, os.availableParallelism());
}
