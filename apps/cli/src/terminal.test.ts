import { createColors } from "picocolors";
import { describe, expect, it, vi } from "vitest";
import { createTerminal, holdOutput, showStarting, wantsColor } from "./io/terminal.ts";
import { typing } from "./testing/typing.ts";

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

describe("createTerminal", () => {
  it("writes its last lines though a question is still open", async () => {
    const { asking, shown } = typing(/never/);
    const { out, flush } = createTerminal(asking.io, false);
    holdOutput(asking);
    out.write("Stopped.\n");
    await flush();
    expect(shown()).toBe("Stopped.\n");
  });
});

describe("showStarting", () => {
  it.each([
    [true, ["num, other: a first start may take minutes, 1 s", "num: a first start may take minutes, 2 s"]],
    [false, ["num: a first start may take minutes, 10 s\n", "num: a first start may take minutes, 20 s\n"]],
  ])("names who is waited for until the work settles, on a terminal: %s", async (isTerminal, expected) => {
    vi.useFakeTimers();
    const shown: string[] = [];
    const write = (text: string): void => void shown.push(text);
    const style = { colors: createColors(false), width: 80 };
    const work = Promise.withResolvers<string>();
    const left = new Set(["num", "other"]);
    // As of an output without a terminal, which can't replace a line.
    const writeTransient = isTerminal ? write : () => {};
    const waiting = showStarting({ style, isTerminal, write, writeTransient }, left, work.promise);
    await vi.advanceTimersByTimeAsync(1_000);
    left.delete("other");
    await vi.advanceTimersByTimeAsync(20_000);
    work.resolve("done");
    expect(await waiting).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    expect(shown.slice(0, 2)).toEqual(expected.map((line) => `  starting   ${line}`));
  });
});
