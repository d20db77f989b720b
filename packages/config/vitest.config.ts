import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** One worker runs all files: loading the schema takes longer than most of the tests, and none keeps state in a module. */
export default mergeConfig(base, { test: { isolate: false } });
