import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** Its tests mostly wait for processes: one worker would leave a processor idle. */
export default mergeConfig(base, { test: { maxWorkers: 2 } });
