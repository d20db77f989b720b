import { mergeConfig } from "vitest/config";
import { findSmallPackages } from "./scripts/small-packages.mjs";
import repository from "./vitest.config.ts";

/** The tests about the repository, and those of the small packages: `npm test` runs them in one process. */
export default mergeConfig(repository, {
  test: {
    include: findSmallPackages(import.meta.dirname).map((folder) => `${folder}/src/**/*.test.ts`),
    maxWorkers: 2,
  },
});
