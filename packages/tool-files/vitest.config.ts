import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** The test files share their workers: loading the TypeScript compiler for each would take seconds. */
export default mergeConfig(base, { test: { isolate: false } });
