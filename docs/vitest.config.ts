import { mergeConfig } from "vitest/config";
import base from "../vitest.base.ts";

const include = process.env["CEM_TESTS"] === "more" ? [] : ["*.test.ts"];

export default mergeConfig(base, {
  test: { include, globalSetup: ["scripts/write-reference.ts"] },
});
