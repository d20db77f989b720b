import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** The files share their workers: no test changes a module, and loading the SDK for each file takes seconds. */
export default mergeConfig(base, { test: { isolate: false } });
