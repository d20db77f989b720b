import { describe, expect, it } from "vitest";
import { mapGuestError } from "./guest-stack.ts";

describe("mapGuestError", () => {
  const url = "blob:null/0a1b";

  it("keeps the program's frames", () => {
    const stack = `Error: x
    at check (${url}:5:7)
    at add (file:///workspace/servers/c/index.ts:2:9)
    at async Module.default (${url}:8:1)
    at async run (file:///cem/guest/boot.js:1:1)`;
    expect(mapGuestError({ name: "Error", message: "x", stack })).toEqual({
      name: "Error",
      message: "x",
      line: 5,
      column: 7,
      stack: "at check (program.ts:5:7)\nat program.ts:8:1",
    });
  });

  it("names another file of the workspace where the error arose there", () => {
    const stack = `RangeError: x
    at divide (file:///workspace/lib/calc.ts:4:11)
    at add (file:///workspace/servers/c/index.ts:2:9)
    at /workspace/lib/top.ts:1:2
    at ${url}:8:1`;
    expect(mapGuestError({ name: "RangeError", message: "x", stack })).toEqual({
      name: "RangeError",
      message: "lib/calc.ts, line 4: x",
      line: 8,
      column: 1,
      stack: "at divide (lib/calc.ts:4:11)\nat lib/top.ts:1:2\nat program.ts:8:1",
    });
  });

  it("takes a place out of the message where the stack has none", () => {
    const message = `Expected ';' at ${url}:3:9`;
    expect(mapGuestError({ name: "SyntaxError", message, stack: "" })).toMatchObject({
      message: "Expected ';'",
      line: 3,
      column: 9,
    });
  });

  it("leaves out the wrapper's name, and no name that begins like it", () => {
    const stack = ["Module.default", "async default", "defaultsOf", "Object.defaults"]
      .map((name, index) => `    at ${name} (${url}:${index + 1}:5)`)
      .join("\n");
    expect(mapGuestError({ name: "E", message: "m", stack }).stack).toBe(
      "at program.ts:1:5\nat program.ts:2:5\nat defaultsOf (program.ts:3:5)\nat Object.defaults (program.ts:4:5)",
    );
  });
});
