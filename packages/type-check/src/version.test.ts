import { expect, it } from "vitest";
import { CHECKER_VERSION } from "./version.ts";

it("names the versions of the rules, of this package and of TypeScript", () => {
  expect(CHECKER_VERSION).toMatch(/^\d+ \d+\.\d+\.\d+ 7\.0\.2$/);
});
