import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** Loading the SDK and the stages takes longer than most files' tests, so a worker loads them once. */
export default mergeConfig(base, { test: { isolate: false } });
