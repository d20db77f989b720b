import { describe, expect, it } from "vitest";
import { wantsColor } from "./io/terminal.ts";

describe("wantsColor", () => {
  it.each([
    ["a terminal", {}, true, true, true],
    ["a pipe", {}, true, false, false],
    ["a terminal that can't", { TERM: "dumb" }, true, true, false],
    ["NO_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, true, false],
    ["an empty NO_COLOR", { NO_COLOR: "" }, true, true, true],
    ["FORCE_COLOR in a pipe", { FORCE_COLOR: "1" }, true, false, true],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }, true, true, false],
    ["--no-color", { FORCE_COLOR: "1" }, false, true, false],
  ])("decides for %s", (_, env, option, isTerminal, expected) => {
    expect(wantsColor(env, option, isTerminal)).toBe(expected);
  });
});
