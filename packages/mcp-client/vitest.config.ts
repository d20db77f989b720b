import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** The test files share their workers: loading the MCP SDK for each would take seconds. */
export default mergeConfig(base, { test: { isolate: false } });
