import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** The test files share their workers: loading the modules for each would take longer than most of the tests. */
export default mergeConfig(base, { test: { isolate: false } });
