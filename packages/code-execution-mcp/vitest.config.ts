import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/**
 * Its tests mostly wait for processes: one worker would leave a processor idle. The test files share the workers, since
 * loading the modules for each would take longer than most of the tests.
 */
export default mergeConfig(base, { test: { maxWorkers: 2, isolate: false } });
