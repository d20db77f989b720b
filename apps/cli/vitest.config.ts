import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** Its tests come last of all and mostly wait for processes: one worker would leave a processor idle. */
export default mergeConfig(base, { test: { maxWorkers: 2, setupFiles: ["src/testing/clean-up.ts"] } });
