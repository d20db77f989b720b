import { describe, expect, it } from "vitest";
import { fuse } from "./fusion.ts";

const floats = (...values: number[]) => Float32Array.from(values);

describe("fuse", () => {
  it("adds both in equal parts, each brought to 0 to 1", () => {
    expect([...fuse(floats(2, 1, 0), floats(0.25, 0.5, 0.75))]).toEqual([0.5, 0.5, 0.5]);
  });

  it("leaves the order to meaning where no word matches", () => {
    expect([...fuse(floats(0, 0), floats(0.25, 0.75))]).toEqual([0, 1]);
  });

  it("leaves the order to words where all are equally close", () => {
    expect([...fuse(floats(2, 1), floats(0.5, 0.5))]).toEqual([0.5, 0.25]);
  });
});
