import { configDefaults, mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

const asked = process.env["CEM_POD_CONTRACT"] === "1";

export default mergeConfig(base, {
  test: { exclude: asked ? configDefaults.exclude : [...configDefaults.exclude, "**/pod-contract.test.ts"] },
});
