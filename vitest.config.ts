import { mergeConfig } from "vitest/config";
import base from "./vitest.base.ts";

/** The tests about the repository as a whole; each package has its own. */
export default mergeConfig(base, { test: { include: ["scripts/*.test.ts"] } });
