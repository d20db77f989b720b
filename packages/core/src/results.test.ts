import { describe, expect, it } from "vitest";
import { isResultHandle } from "./results.ts";

const handle = { type: "image", mimeType: "image/png", size: 4, path: "/workspace/results/a.png" };

describe("isResultHandle", () => {
  it.each(["image", "audio", "resource", "text", "json"])("accepts a handle of type %s", (type) => {
    expect(isResultHandle({ ...handle, type })).toBe(true);
    expect(isResultHandle({ ...handle, type, preview: "a", more: 1 })).toBe(true);
  });

  it.each([
    null,
    "text",
    undefined,
    [],
    {},
    { ...handle, type: "video" },
    { ...handle, mimeType: 1 },
    { ...handle, size: "4" },
    { ...handle, path: undefined },
  ])("refuses %j", (value) => {
    expect(isResultHandle(value)).toBe(false);
  });
});
