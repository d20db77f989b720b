import { configDefaults, mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** Mutation tests run without the conformance suite: it takes seconds for each mutant, and unit tests should tell. */
const exclude = "STRYKER_MUTATOR_WORKER" in process.env ? ["src/conformance.test.ts"] : [];

/** Loading the SDK and the stages takes longer than most files' tests, so a worker loads them once. */
export default mergeConfig(base, {
  test: { isolate: false, exclude: [...configDefaults.exclude, ...exclude] },
});
