import { defineConfig } from "vitest/config";

/** Tests run against the sources of every package, so one package's tests need no build. */
export default defineConfig({
  resolve: { conditions: ["@cem/source"] },
  ssr: { resolve: { conditions: ["@cem/source"] } },
  test: { include: ["src/**/*.test.ts"], testTimeout: 30_000, hookTimeout: 30_000 },
});
