import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/**
 * Its tests come last of all and mostly wait for processes: one worker would leave a processor idle. Each file has a worker of
 * its own, since helpers end the processes that were started by theirs.
 */
export default mergeConfig(base, { test: { maxWorkers: 2, isolate: true } });
