import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** Most of the tests wait for a limit to end a guest, so two files at once cost no more. */
export default mergeConfig(base, { test: { maxWorkers: 2 } });
