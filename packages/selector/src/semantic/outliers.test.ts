import { describe, expect, it } from "vitest";
import { findOutliers } from "./fusion.ts";

const around = (middle: number) =>
  Array.from({ length: 40 }, (_, at) => middle + 0.02 * Math.sin(at * 12.9898));

describe("findOutliers", () => {
  it("takes what is high and stands out", () => {
    const isMeant = findOutliers(Float32Array.from([...around(0.1), 0.6, 0.25]));
    expect([0.6, 0.25, 0.12].map(isMeant)).toEqual([true, false, false]);
  });

  it("takes only what stands out where all are high, as with some models", () => {
    const isMeant = findOutliers(Float32Array.from([...around(0.75), 0.9]));
    expect([0.9, 0.77].map(isMeant)).toEqual([true, false]);
  });

  it("takes nothing where nothing stands out", () => {
    const values = around(0.5);
    expect(values.some(findOutliers(Float32Array.from(values)))).toBe(false);
  });

  it("takes what is high among few", () => {
    expect([0.5, 0.1].map(findOutliers(Float32Array.from([0.5, 0.45, 0.1])))).toEqual([true, false]);
  });
});
